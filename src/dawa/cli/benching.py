"""What ``dawa bench`` does once it is asked to."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dawa.cli.terminal import STOPPED
from dawa.errors import OptionError
from dawa_bench import datasets, fetch, registry, results, runner
from dawa_bench.experiment import Size

OUT, DOCS = "out/bench", "docs"
FETCH, REPORT = "fetch", "report"


def run(
    name: str | None,
    *,
    quick: bool,
    full: bool,
    out: str | None,
    data: str | None,
    jobs: int | None,
    backend: str | None,
    to: str | None,
    listed: bool,
) -> None:
    """List, fetch, report, or run experiments; whatever would be ignored is refused."""
    given = {
        "--quick": quick,
        "--full": full,
        "--out": out,
        "--data": data,
        "--jobs": jobs,
        "--backend": backend,
        "--to": to,
    }
    asked = {flag for flag, value in given.items() if value is not None and value is not False}
    if listed or (name is None and not asked):
        _only(asked | ({name} if name else set()), set(), "--list")
        _list()
    elif name == FETCH:
        _only(asked, {"--data"}, FETCH)
        folder = Path(data) if data else datasets.fetched_folder()
        fetch.fetch(folder, told=_say)
        _say(f"The datasets are in {folder}.")
    elif name == REPORT:
        _only(asked, {"--out", "--to"}, REPORT)
        _say(f"Wrote {results.report(Path(out or OUT), Path(to or DOCS))}.")
    else:
        _only(asked, set(given) - {"--to"}, "an experiment")
        if quick and full:
            raise OptionError("--quick and --full exclude each other.", "choose one.")
        names = registry.names() if name is None else (name,)
        _experiments(names, "full" if full else "quick", Path(out or OUT), data, jobs, backend or "loky")


def _experiments(
    names: tuple[str, ...], size: Size, out: Path, data: str | None, jobs: int | None, backend: str
) -> None:
    """Run experiments one after the other."""
    chosen = [registry.find(name) for name in names]
    if backend not in runner.BACKENDS:
        raise OptionError(f"There is no backend {backend!r}.", f"choose one of {', '.join(runner.BACKENDS)}.")
    folder = datasets.folder_for(data)
    _note(f"Datasets: {folder or 'generated stand-ins, because no folder has the real ones (dawa bench fetch)'}.")
    try:
        for experiment in chosen:
            several = len(chosen) > 1 and experiment.alone
            with _progress(experiment.name) as advanced:
                runner.run(
                    experiment,
                    size,
                    out / experiment.name,
                    folder,
                    None if several else jobs,
                    "loky" if several else backend,  # type: ignore[arg-type]  # checked above
                    advanced,
                )
            _say(f"{experiment.name}: {out / experiment.name / runner.TABLES}")
    except KeyboardInterrupt:
        _note("Stopped. Hint: the same command goes on where it was.")
        raise typer.Exit(STOPPED) from None


def _list() -> None:
    for name in registry.names():
        experiment = registry.find(name)
        _say(f"{name:<18}{experiment.title}. {experiment.finding}")


def _only(asked: set[str], taken: set[str], what: str) -> None:
    """Refuse flags that do not go with what is asked for."""
    ignored = sorted(asked - taken)
    if ignored:
        raise OptionError(f"{', '.join(ignored)} would change nothing with {what}.", "leave it out.")


@contextmanager
def _progress(name: str) -> Iterator[Callable[[int, int], object]]:
    """A bar on a terminal; elsewhere nothing."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        shown = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(shown, completed=done, total=total)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _note(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
