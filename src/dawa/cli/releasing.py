"""Make a release and say what came of it."""

import json as encoder
import sys
from collections.abc import Sequence

from rich.text import Text

from dawa import spec_file, tables
from dawa.budget import shown
from dawa.cli import answering, making
from dawa.cli.terminal import screen
from dawa.folder import Written
from dawa.ranges import Asked
from dawa.releases import Release
from dawa.spec import Spec


def run(spec: Spec, *, save_spec: str | None, force: bool, json: bool) -> None:
    """Make a release, and its description's file first if one is asked for."""
    if save_spec is not None:
        spec_file.save(spec, save_spec)
    release, asked, written = making.made(spec, force=force)
    if json:
        sys.stdout.write(encoder.dumps(_summary(release, asked, written), indent=1) + "\n")
    else:
        _tell(spec, release, asked, written)


def _summary(release: Release, asked: Sequence[Asked], written: Written) -> dict[str, object]:
    return {
        "release": release.id,
        "folder": str(written.folder),
        "files": list(written.files),
        "earlier": None if written.earlier is None else str(written.earlier),
        "axes": [axis.to_json() for axis in release.axes],
        "buckets": len(release.estimate.buckets),
        "privacy": release.privacy.to_json(),
        "answers": answering.as_json(release, asked, written.answers),
    }


def _tell(spec: Spec, release: Release, asked: Sequence[Asked], written: Written) -> None:
    console = screen()
    if asked:
        console.print(answering.shown(release, asked, written.answers))
    buckets = len(release.estimate.buckets)
    lines = [
        f"Released {buckets:,} bucket{'s' * (buckets != 1)} into {written.folder}: {', '.join(written.files)}.",
        *([] if written.earlier is None else [f"The earlier folder is now {written.earlier}."]),
        _claim(release),
        *([] if spec.dataset else ["No ledger counts it against a total; --dataset would name one that pays."]),
        f"Ask it: dawa query {written.folder} {tables.example(release.axes)}",
    ]
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _claim(release: Release) -> str:
    privacy = release.privacy
    if not privacy.private:
        return "NOT PRIVATE: its noise was made from a seed, for an experiment. Do not publish it."
    return (
        f"It is differentially private for each {privacy.unit} at epsilon = {shown(privacy.epsilon)};"
        " its README.md says what that means."
    )
