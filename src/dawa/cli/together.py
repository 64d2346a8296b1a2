"""Several releases from one spec: paid together or not at all, in one folder."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import dawa
from dawa.budget import shown
from dawa.cli import making, predicted, specs
from dawa.cli.terminal import complain, tell, write_json
from dawa.errors import DawaError, FolderError, SpecError

if TYPE_CHECKING:
    from dawa.cli.making import Made, Order
    from dawa.cli.predicted import Wanted
    from dawa.spec.several import Several


LEFT = re.compile(r"\..+-[0-9a-f]{8}")
"""What a run that was stopped may leave in the folder; ``dawa ledger recover`` completes it if it is paid for."""


def release(several: Several, *, force: bool, saved: bool, json: bool) -> None:
    """Make all of them, and say what was made; everything public is checked before anything is spent."""
    folder = _folder(several, force=force, saved=saved)
    meant = {name: specs.meaning(spec) for name, spec in several.specs.items()}
    if said := making.caution(several.common, several.epsilon):
        complain(said)
    with ExitStack() as prepared:
        orders = {}
        for name, spec in several.specs.items():
            place = dawa.publish.folder.prepared(folder / name, meant[name].asked, sys.stdout)
            orders[name] = making.Order(spec, meant[name], prepared.enter_context(place))
        with _what_is_made(orders):
            found = dict(zip(orders, making.made(list(orders.values())), strict=True))
            _check_all(found)
        files = dawa.publish.together.write(folder, {name: one.release for name, one in found.items()})
    with making.heard(folder):
        if json:
            write_json({**_summary(several, folder, found), "files": list(files)})
        else:
            _tell(several, folder, found, files)


def _folder(several: Several, *, force: bool, saved: bool) -> Path:
    """The folder that will hold theirs."""
    if saved:
        raise SpecError("--save-spec does not go with a spec of several releases.", "copy the file.")
    if force:
        raise SpecError("--force does not go with several releases.", "name a new folder: --out releases/.")
    if several.out is None:
        raise SpecError("The releases have no folder to go to.", "name a new one: --out releases/.")
    folder = Path(several.out)
    left = [child.name for child in folder.iterdir()] if folder.is_dir() else []
    if any(not LEFT.fullmatch(name) for name in left):
        raise FolderError(f"{folder} exists already.", "choose another folder: several releases replace nothing.")
    return folder


def plan(several: Several, wanted: Wanted, *, toml: bool, json: bool) -> None:
    """Say what each would be like, and what all of them would spend."""
    for name, given in {"--toml": toml, "--within": wanted.within, "--picture": wanted.picture}.items():
        if given:
            raise SpecError(f"{name} does not go with a spec of several releases.", "plan one of them by itself.")
    meant = {name: specs.meaning(spec) for name, spec in several.specs.items()}
    ledger = next(iter(meant.values())).ledger
    account = None if ledger is None else specs.account(ledger, several.common)
    found = {name: predicted.planned(spec, meant[name], wanted) for name, spec in several.specs.items()}
    if json:
        booked = None if account is None else predicted.booked(several.common, several.epsilon, account)
        plans = {name: {**one.to_json(), **predicted.grouping(meant[name])} for name, one in found.items()}
        write_json({"epsilon": str(several.epsilon), "out": several.out, "releases": plans, "ledger": booked})
        return
    for name, one in found.items():
        tell(f"{name}:")
        predicted.tell_plan(several.specs[name], meant[name], one)
    tell(f"All {len(found)} releases together would spend epsilon = {shown(several.epsilon)}, at once or not at all.")
    if account is not None:
        tell(*predicted.left(several.common, several.epsilon, account))


@contextmanager
def _what_is_made(orders: Mapping[str, Order]) -> Iterator[None]:
    """Let a failure say which releases were made all the same: they are paid for."""
    try:
        yield
    except (DawaError, KeyboardInterrupt):
        written = {name: order.keeper.written for name, order in orders.items()}
        for name, one in written.items():
            if one is not None:
                complain(f"{name} is made: it is in {one.folder if one.files else 'what was printed'}.")
        if any(written.values()) and not all(written.values()):
            complain(f"Not made: {', '.join(name for name, one in written.items() if one is None)}.")
        raise


def _check_all(found: Mapping[str, Made]) -> None:
    """Raise what did not become as it should, of all of them at once."""
    problems = [made.problem for made in found.values() if made.problem is not None]
    if problems:
        raise type(problems[0])(" ".join(problem.problem for problem in problems), problems[0].hint)


def _summary(several: Several, folder: Path, found: Mapping[str, Made]) -> dict[str, object]:
    """For machines."""
    account = next(iter(found.values())).account
    return {
        "folder": str(folder),
        "epsilon": str(several.epsilon),
        "releases": {name: {**making.summary(made), "ledger": None} for name, made in found.items()},
        "ledger": None if account is None else account.to_json(),
    }


def _tell(several: Several, folder: Path, found: Mapping[str, Made], files: Sequence[str]) -> None:
    """For people."""
    for name, made in found.items():
        tell(f"{name}:")
        making.show(made)
    last = list(found.values())[-1]
    tell(
        f"Released {len(found)} release{'s' * (len(found) != 1)} into {folder}, with {' and '.join(files)}."
        f" Together they spent epsilon = {shown(several.epsilon)}, and are {shown(several.epsilon)}-differentially"
        f" private for each {last.release.privacy.unit}.",
        *making.left(several.common, last.account),
        making.example(last),
    )
