"""``dawa bench``: the paper's experiments, made again.

``dawa`` offers this command if it finds this package, and imports this module to show its help. So this module imports
everything that is slow to load, or NOT PRIVATE, only when the command runs.
"""

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dawa.cli.terminal import STOPPED, reported
from dawa.errors import OptionError
from dawa_bench.terminal import progress

if TYPE_CHECKING:
    from dawa_bench.experiments import Size

OUT, DOCS = "out/bench", "docs"
FETCH, REPORT = "fetch", "report"

HELP = """Make the paper's tables and figures again, and see which mechanism suits which data.

\b
  dawa bench --list                   # the experiments
  dawa bench paper.errors             # one of them, in minutes
  dawa bench paper.errors --full      # as large as in the paper
  dawa bench --quick                  # all of them, in minutes each
  dawa bench fetch                    # the real data, from its public address
  dawa bench report                   # a page of results, docs/results.md

\b
After any stop, the same command resumes. All data here is public; some
mechanisms are NOT PRIVATE, and are marked so. To use a cluster, pass
--backend dask (DASK_SCHEDULER_ADDRESS) or --backend ray (RAY_ADDRESS).
"""


def bench(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="An experiment, 'fetch' or 'report'.", show_default=False),
    ] = None,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs, in minutes. This is the default.")] = False,
    full: Annotated[bool, typer.Option("--full", help="As large as in the paper.")] = False,
    out: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where results are kept. (default: out/bench)")
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Where the real datasets are. (default: DAWA_DATA, else what was fetched, else stand-ins)",
        ),
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes. (default: one per core)", show_default=False)] = None,
    backend: Annotated[
        str | None, typer.Option(help="What runs the processes: loky, dask or ray. (default: loky)", show_default=False)
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where to write a report. (default: docs)", show_default=False)
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments and exit.")] = False,
) -> None:
    """Run experiments."""
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
    with reported():
        if listed or (name is None and not asked):
            _only(asked | ({name} if name else set()), set(), "--list")
            _list()
        elif name == FETCH:
            _only(asked, {"--data"}, FETCH)
            _fetch(data)
        elif name == REPORT:
            _only(asked, {"--out", "--to"}, REPORT)
            _report(Path(out or OUT), Path(to or DOCS))
        else:
            _only(asked, set(given) - {"--to"}, "an experiment")
            if quick and full:
                raise OptionError("--quick and --full exclude each other.", "choose one.")
            _experiments(name, "full" if full else "quick", Path(out or OUT), data, jobs, backend or "loky")


def _list() -> None:
    from dawa_bench import experiments  # noqa: PLC0415  see above

    for name in experiments.names():
        experiment = experiments.find(name)
        _say(f"{name:<18}{experiment.title}. {experiment.finding}")


def _fetch(data: str | None) -> None:
    from dawa_bench import datasets  # noqa: PLC0415  see above

    folder = Path(data) if data else datasets.fetched_folder()
    datasets.fetch(folder, told=_say)
    _say(f"The datasets are in {folder}.")


def _report(out: Path, to: Path) -> None:
    from dawa_bench import results  # noqa: PLC0415  see above

    _say(f"Wrote {results.report(out, to)}.")


def _experiments(name: str | None, size: "Size", out: Path, data: str | None, jobs: int | None, backend: str) -> None:
    """Run one experiment, or all of them in turn."""
    from dawa_bench import datasets, experiments, runner  # noqa: PLC0415  see above

    chosen = [experiments.find(one) for one in (experiments.names() if name is None else (name,))]
    if backend not in runner.BACKENDS:
        raise OptionError(f"There is no backend {backend!r}.", f"choose one of {', '.join(runner.BACKENDS)}.")
    folder = datasets.folder_for(data)
    _note(f"Datasets: {folder or 'generated stand-ins, because no folder has the real ones (dawa bench fetch)'}.")
    try:
        for experiment in chosen:
            several = len(chosen) > 1 and experiment.alone
            with progress(experiment.name) as advanced:
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
        _note("Stopped. Hint: the same command resumes.")
        raise typer.Exit(STOPPED + signal.SIGINT) from None


def _only(asked: set[str], taken: set[str], what: str) -> None:
    """Refuse flags that would be ignored."""
    ignored = sorted(asked - taken)
    if ignored:
        raise OptionError(f"{', '.join(ignored)} would change nothing with {what}.", "leave it out.")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _note(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
