"""``dawa serve``: answer range queries over HTTP."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TextIO

import typer

from dawa.cli.options import as_number
from dawa.cli.terminal import reported
from dawa.errors import OptionError, printable
from dawa.server import needs_serve

HELP = """Answer ranges over HTTP, for people who build on releases. Only releases are read, never data.

\b
  dawa serve out/                            # a release, or a folder of them
  dawa serve ages/ incomes/release.json --port 9000
                                             # open http://127.0.0.1:8000/
  curl 'http://127.0.0.1:8000/releases'
  curl 'http://127.0.0.1:8000/releases/ages/answer?lo=18&hi=65'
  curl 'http://127.0.0.1:8000/openapi.json'  # everything that can be asked

\b
It listens on this machine alone unless --host says otherwise, and stops with
Ctrl-C. With a token, in --token-file or the environment variable
DAWA_SERVE_TOKEN, it answers only those who have it.
"""

TOKEN = "DAWA_SERVE_TOKEN"  # noqa: S105  the name of a variable

ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""What libraries for linear algebra read when they are loaded. A worker computes one thing at a time."""

OPEN = (
    "Everyone who can reach {address} can ask these releases now: nobody is asked who they are, and nothing is"
    " encrypted. Put a proxy in front of it unless all of them are public."
)
UNENCRYPTED = (
    "Everyone who has the token and can reach {address} can ask these releases now. Nothing is encrypted, the token"
    " included: put a proxy in front of it that does."
)


def serve(
    places: Annotated[
        list[str],
        typer.Argument(metavar="RELEASE", help="Folders and release files.", show_default=False),
    ],
    *,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="On which port; 0 takes a free one.")] = 8000,
    workers: Annotated[int, typer.Option(help="Processes.")] = 1,
    rate: Annotated[
        float,
        typer.Option(
            help="Simple requests per second that a client may send to a worker in the long run.",
            parser=as_number,
            metavar="FLOAT",
        ),
    ] = 50.0,
    token_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="A file with the token that requests must show.")
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(metavar="ADDRESS", help="A proxy in front, which says in X-Forwarded-For who asks; repeatable."),
    ] = None,
) -> None:
    """Read the releases, say what is served where, and serve it."""
    with reported():
        needs_serve()
        for name in ONE_THREAD:
            os.environ.setdefault(name, "1")
        from dawa.server import running, shelf  # noqa: PLC0415  an extra, which may be missing
        from dawa.server.throttle import Throttle, checked_address  # noqa: PLC0415  likewise

        Throttle(rate)
        running.check(workers)
        proxies = tuple(checked_address(one) for one in proxy or ())
        settings = running.Settings(running.names(host), rate, _token(token_file), proxies)
        read = shelf.filled(places)
        with running.bound(host, port) as listening:
            address = _address(host, listening.getsockname()[1])
            warning = (OPEN if settings.token is None else UNENCRYPTED).format(address=address)
            pages = [f"{address}/releases/{name}/page  {one.place}" for name, one in read.releases.items()]
            _write(sys.stdout, [f"{address}/  all releases; {address}/docs  what can be asked", *pages])
            _write(sys.stderr, [*read.skipped, *([] if running.is_loopback(host) else [warning])])
            running.serve(listening, read, settings, workers=workers)


def _token(file: str | None) -> str | None:
    """The token in a file, or in the environment; never on the command line, which everyone on a machine can read.

    Raises:
        OptionError: If the file cannot be read, or holds no token.
    """
    from dawa.server.gate import checked_token  # noqa: PLC0415  an extra, which may be missing

    if file is None:
        return checked_token(os.environ[TOKEN]) if TOKEN in os.environ else None
    try:
        with Path(file).open(encoding="utf-8") as opened:
            token = opened.read(2**16)
    except (OSError, ValueError):
        raise OptionError(f"The token in {file} cannot be read.", "write one line of text into a file.") from None
    return checked_token(token)


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _write(target: TextIO, lines: Sequence[str]) -> None:
    """Write lines at once, before the server runs."""
    target.write("".join(printable(line) + "\n" for line in lines))
    target.flush()
