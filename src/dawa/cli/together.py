"""Several releases from one spec: paid together or not at all, in one folder."""

from __future__ import annotations

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
        with _what_is_made(folder, orders):
            found = dict(zip(orders, making.made(list(orders.values())), strict=True))
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
    if folder.is_dir() and any(folder.iterdir()):
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
def _what_is_made(folder: Path, orders: Mapping[str, Order]) -> Iterator[None]:
    """Let a failure say which releases were made all the same: they are paid for."""
    try:
        yield
    except (DawaError, KeyboardInterrupt):
        made = [name for name, order in orders.items() if order.keeper.written is not None]
        if made:
            complain(f"Made and kept in {folder}: {', '.join(made)}. Not made: {', '.join(set(orders) - set(made))}.")
        raise


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
        f"Released {len(found)} releases into {folder}, with {' and '.join(files)}. Together they spent"
        f" epsilon = {shown(several.epsilon)}, and are {shown(several.epsilon)}-differentially private for each"
        f" {last.release.privacy.unit}.",
        *making.left(several.common, last.account),
        making.example(last),
    )
