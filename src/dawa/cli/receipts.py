"""The commands of ``dawa ledger`` about receipts: keep one, compare with some, verify a release, make a key that signs.

``dawa.ledger`` loads a database, so it is reached through ``dawa``, which imports it when it is first used.
"""

import shlex
from pathlib import Path
from typing import Annotated

import typer

import dawa
from dawa.cli import looks
from dawa.cli.bookings import Json, Where, answer
from dawa.cli.options import LEDGER_VARIABLE, USUAL_LEDGER
from dawa.cli.terminal import reported
from dawa.errors import LedgerError
from dawa.results import keys

RECEIPT = """Print what the ledger is now, on one line to be kept elsewhere.

\b
  dawa ledger receipt >> /other/disk/receipts.txt
  dawa ledger receipt | mail -s receipt auditor@example.org

\b
An older copy of the ledger that somebody puts back looks whole. A receipt
tells: dawa ledger check. To have every booking leave a receipt, and every use
of the ledger compared with the last, name the file: DAWA_LEDGER_ANCHOR=FILE.
"""

CHECK = """Check that nobody edited the ledger, and that it goes on from what receipts say.

\b
  dawa ledger check
  dawa ledger check /other/disk/receipts.txt
"""

VERIFY = """Verify that a release was paid for, and exactly this one: by the ledger, by the key that signed, or both.

\b
  dawa ledger verify out/
  dawa ledger verify out/release.json --ledger ledger.db
  dawa ledger verify out/ --key hospital.key.pub   # without any ledger

\b
Compared are the ledger's chain, the entry that paid, the receipt in the
folder, what the release says it costs, and the SHA-256 of its files. The folder
may be a copy that came back from a reader; the ledger is the one that paid.

\b
With a key, the receipt must be signed with it, and a ledger is asked only if
one is named. Take the key from whoever published the folder, and not from
where the folder lay.
"""

KEY = """Make a key that signs receipts, so that readers can verify a release without the ledger.

\b
  dawa ledger key hospital.key       # and hospital.key.pub, for readers
  export DAWA_LEDGER_KEY=hospital.key
  dawa release … --dataset hr --out out/
  dawa ledger verify out/ --key hospital.key.pub

\b
FILE is for whoever keeps the ledger: only its owner may read it, and whoever
has it can sign in their name. FILE.pub is for everybody. Nothing is replaced.
"""


def receipt(*, ledger: Where = USUAL_LEDGER, json: Json = False) -> None:
    """Print a receipt."""
    with reported(json):
        found = dawa.ledger.opened(ledger).receipt()
        answer({"ledger": found.ledger, "entries": found.number, "hash": found.hash}, str(found), json=json)


def check(
    receipts: Annotated[
        Path | None, typer.Argument(metavar="[RECEIPTS]", help="A file with receipts.", show_default=False)
    ] = None,
    *,
    ledger: Where = USUAL_LEDGER,
    json: Json = False,
) -> None:
    """Compare a ledger with its receipts."""
    with reported(json):
        book = dawa.ledger.opened(ledger)
        try:
            text = "" if receipts is None else dawa.ledger.anchor.text_of(receipts)
        except OSError as error:
            raise LedgerError(
                f"'{receipts}' cannot be read ({error.strerror}).", "name a file with receipts."
            ) from None
        own, now = book.check(text), book.receipt()
        if receipts is not None and not own:
            raise LedgerError(f"'{receipts}' holds no receipt of this ledger.", "name another file, or another ledger.")
        told = "" if receipts is None else f", and goes on from {own} receipt{'s' * (own != 1)}"
        answer(
            {"entries": now.number, "hash": now.hash, "receipts": own},
            f"The ledger is whole: {now.number} entries that follow from each other{told}.",
            json=json,
        )


def verify(
    release: Annotated[
        Path, typer.Argument(metavar="RELEASE", help="A folder or file that dawa wrote.", show_default=False)
    ],
    *,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key", metavar="FILE", help="The public key that signed the receipt: FILE.pub.", show_default=False
        ),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            "--ledger",
            metavar="FILE|URL",
            envvar=LEDGER_VARIABLE,
            help="A file, or a postgresql:// address.",
            show_default=f"{USUAL_LEDGER}, or none with --key",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Compare a release with the ledger that paid for it, or with the key that signed its receipt."""
    with reported(json):
        asked = USUAL_LEDGER if ledger is None and key is None else ledger
        found = dawa.publish.receipts.verified(release, asked, key=key)
        answer(found.to_json(), looks.verified(found), json=json)


def key(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file.", show_default=False)],
    *,
    json: Json = False,
) -> None:
    """Make a key that signs receipts."""
    with reported(json):
        made, new = keys.made(file)
        public = keys.beside(file)
        done = f"Made {file}" if new else f"The key in {file} was there already"
        answer(
            {"key": str(file), "public": str(public), "fingerprint": made.public.fingerprint, "new": new},
            f"{done}; its public key is {public}, with the fingerprint {made.public.fingerprint}. To sign receipts:"
            f" export {keys.VARIABLE}={shlex.quote(str(file.absolute()))}. Keep {file.name} to yourself and in a"
            f" backup, and give {public.name} to readers, with the fingerprint by another way.",
            json=json,
        )
