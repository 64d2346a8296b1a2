"""Run an experiment: all its tasks, on all cores, resuming an earlier run.

A task's result depends on its key alone, and is stored at once. So a run may be stopped in any way, and the same
command resumes with the missing tasks. Clusters are used through joblib, by the backends of Dask and Ray.
"""

import importlib.util
import os
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Any, Literal

from dawa.errors import OptionError
from dawa.host import atomic
from dawa.plots import drawing
from dawa.version import __version__
from dawa_bench import store
from dawa_bench.experiments import Experiment, Record, Size, Task, find

Backend = Literal["loky", "dask", "ray"]
BACKENDS = ("loky", "dask", "ray")
SIZES: tuple[Size, ...] = ("full", "quick")
PATIENCE = 20
"""Seconds after which a process ends that gets no more tasks from its parent."""

BATCH = 64
"""Tasks per worker in a batch, for a backend that returns a whole batch at once."""

TABLES, PICTURES = "tables.md", ("figure.png", "figure.svg")


def run(
    experiment: Experiment,
    size: Size,
    folder: Path,
    data: Path | None,
    jobs: int | None = None,
    backend: Backend = "loky",
    advanced: Callable[[int, int], object] = lambda _done, _total: None,
) -> list[Record]:
    """Run the missing tasks of an experiment, then write its records, tables and figure.

    Args:
        experiment: The experiment.
        size: ``quick`` or ``full``.
        folder: Where its results are kept.
        data: The folder of datasets; None uses stand-ins.
        jobs: How many processes; None takes one per core, or a single one if tasks are timed.
        backend: What runs the processes.
        advanced: Called with how many tasks are done, and how many there are.

    Raises:
        OptionError: If the tasks cannot be run with these options.
        FolderError: If results cannot be stored in the folder.
    """
    workers = _workers(experiment, jobs, backend)
    tasks = experiment.tasks(size, data)
    before = {record.task for record in store.records(folder) if record.version == __version__}
    missing = [task for task in tasks if task not in before]
    done = len(tasks) - len(missing)
    descriptor = store.opened(folder)
    try:
        noted = {"experiment": experiment.name, "size": size, "workers": workers, "backend": backend}
        store.note(folder, {**noted, "data": None if data is None else str(data)})
        advanced(done, len(tasks))
        with warnings.catch_warnings(), closing(_results(missing, data, workers, backend)) as results:
            # joblib replaces processes whose memory has grown: users need not know.
            warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")
            for record in results:
                store.append(descriptor, record)
                done += 1
                advanced(done, len(tasks))
    finally:
        os.close(descriptor)
    found = _of(tasks, folder)
    show(experiment, found, folder)
    return found


def kept(experiment: Experiment, folder: Path) -> tuple[Size, list[Record]] | None:
    """The results of an experiment on the data of its last run: full ones, else quick ones, else None if incomplete."""
    noted = store.noted(folder)
    if noted.get("experiment") != experiment.name:
        return None
    data = None if noted.get("data") is None else Path(noted["data"])
    for size in SIZES:
        wanted = experiment.tasks(size, data)
        found = _of(wanted, folder)
        if len(found) == len(wanted):
            return size, found
    return None


def show(experiment: Experiment, records: Sequence[Record], folder: Path) -> None:
    """Write the records as Parquet, as Markdown tables and as a picture."""
    store.finish(folder, records)
    text = "\n".join(table.markdown() for table in experiment.tables(records))
    atomic.write(folder / TABLES, f"# {experiment.title}\n\n{text}")
    if experiment.figure is not None:
        figure = experiment.figure(records)
        for name in PICTURES:
            drawing.saved(figure, folder / name)


def one(task: Task, data: Path | None) -> Record:
    """Run one task, in any process."""
    return Record(task, find(task.experiment).run(task, data))


def _of(tasks: Sequence[Task], folder: Path) -> list[Record]:
    """The records of these tasks, in the order of their keys."""
    wanted = set(tasks)
    return [record for record in store.records(folder) if record.task in wanted and record.version == __version__]


def _workers(experiment: Experiment, jobs: int | None, backend: Backend) -> int:
    """How many processes to use; options that would be ignored are refused."""
    if backend not in BACKENDS:
        raise OptionError(f"There is no backend {backend!r}.", f"choose one of {', '.join(BACKENDS)}.")
    if jobs is not None and jobs < 1:
        raise OptionError(f"jobs={jobs} is not a number of processes.", "pass 1 or more.")
    if experiment.alone and (jobs not in {None, 1} or backend != "loky"):
        raise OptionError(
            f"{experiment.name} measures time, and runs one task at a time on this machine.",
            "leave --jobs and --backend out.",
        )
    asked = jobs not in {None, 1} or backend != "loky"
    if asked and importlib.util.find_spec("joblib") is None:
        raise OptionError("Several processes need joblib, which is not installed.", "pip install 'dawa[bench]'.")
    if experiment.alone or importlib.util.find_spec("joblib") is None:
        return 1
    return jobs or os.cpu_count() or 1


def _results(tasks: Sequence[Task], data: Path | None, workers: int, backend: Backend) -> Generator[Record]:
    """The results of tasks, in the order in which they are ready."""
    if workers == 1 and backend == "loky":
        yield from (one(task, data) for task in tasks)
        return
    import joblib  # noqa: PLC0415  an extra

    call = joblib.delayed(one)
    own = {"idle_worker_timeout": PATIENCE} if backend == "loky" else {}
    with _engine(backend), joblib.parallel_config(backend=backend, n_jobs=workers, **own):
        if backend == "ray":
            for some in _batches(tasks, BATCH * workers):
                yield from joblib.Parallel()(call(task, data) for task in some)
        else:
            if backend == "loky":
                _started(joblib)
            found: Iterable[Any] = joblib.Parallel(return_as="generator_unordered")(call(task, data) for task in tasks)
            yield from found


def _started(joblib: Any) -> None:  # noqa: ANN401  an extra
    """Start the processes while Ctrl-C is switched off, which they inherit: only this process shall stop them."""
    if threading.current_thread() is not threading.main_thread():
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        joblib.Parallel()([joblib.delayed(abs)(0)])
    finally:
        signal.signal(signal.SIGINT, before)


def _batches(tasks: Sequence[Task], size: int) -> Iterator[Sequence[Task]]:
    yield from (tasks[at : at + size] for at in range(0, len(tasks), size))


def _engine(backend: Backend) -> AbstractContextManager[object]:
    """What joblib needs before it can use a backend: a client of the cluster."""
    if backend == "dask":
        if importlib.util.find_spec("distributed") is None:
            raise OptionError(
                "The backend dask needs dask.distributed, which is not installed.", "pip install 'dask[distributed]'."
            )
        from distributed import Client  # noqa: PLC0415  the user's own

        client: AbstractContextManager[object] = Client()
        return client
    if backend == "ray":
        if importlib.util.find_spec("ray") is None:
            raise OptionError("The backend ray needs Ray, which is not installed.", "pip install ray.")
        from ray.util.joblib import register_ray  # noqa: PLC0415  the user's own

        register_ray()
    return nullcontext()
