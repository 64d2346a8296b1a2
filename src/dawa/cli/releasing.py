"""Make a release and say what came of it."""

import json as encoder
import sys
from typing import TYPE_CHECKING

from rich.text import Text

from dawa.budget import shown
from dawa.cli import answering, making
from dawa.cli.making import Made
from dawa.cli.terminal import screen
from dawa.results.release import Release
from dawa.spec import ranges, toml
from dawa.spec.model import Spec

if TYPE_CHECKING:
    from dawa.ledger import Account


def run(spec: Spec, *, save_spec: str | None, force: bool, json: bool) -> None:
    """Make a release, and its description's file first if one is asked for."""
    if save_spec is not None:
        toml.save(spec, save_spec)
    made = making.made(spec, force=force)
    if json:
        sys.stdout.write(encoder.dumps(_summary(made), indent=1) + "\n")
    else:
        _tell(spec, made)


def _summary(made: Made) -> dict[str, object]:
    release, written = made.release, made.written
    return {
        "release": release.id,
        "folder": str(written.folder),
        "files": list(written.files),
        "earlier": None if written.earlier is None else str(written.earlier),
        "axes": [axis.to_json() for axis in release.axes],
        "buckets": len(release.estimate.buckets),
        "privacy": release.privacy.to_json(),
        "answers": answering.as_json(release, made.asked, written.answers),
        "ledger": None if made.account is None else made.account.to_json(),
    }


def _tell(spec: Spec, made: Made) -> None:
    console = screen()
    release, written = made.release, made.written
    if made.asked:
        console.print(answering.shown(release, made.asked, written.answers))
    buckets = len(release.estimate.buckets)
    lines = [
        f"Released {buckets:,} bucket{'s' * (buckets != 1)} into {written.folder}: {', '.join(written.files)}.",
        *([] if written.earlier is None else [f"The earlier folder is now {written.earlier}."]),
        _claim(release),
        _left(spec, made.account),
        f"Ask it: dawa query {written.folder} {ranges.example(release.axes)}",
    ]
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _left(spec: Spec, account: "Account | None") -> str:
    if not spec.dataset:
        return "No ledger counts it against a total; --dataset would name one that pays."
    if account is None:
        return f"The ledger could not be asked what is left for {spec.dataset}."
    return f"The ledger has {shown(account.left)} of {shown(account.cap)} left for {account.dataset}."


def _claim(release: Release) -> str:
    privacy = release.privacy
    if not privacy.private:
        return "NOT PRIVATE: its noise was made from a seed, for an experiment. Do not publish it."
    return (
        f"It is differentially private for each {privacy.unit} at epsilon = {shown(privacy.epsilon)};"
        " its README.md says what that means."
    )
