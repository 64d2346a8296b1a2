"""``dawa serve``: answer range queries over HTTP."""

import sys
from collections.abc import Sequence
from typing import Annotated, TextIO

import typer

from dawa.cli.terminal import plain, reported
from dawa.server import needs_serve

HELP = """Answer ranges over HTTP, for people who build on releases. Only releases are read, never data.

\b
  dawa serve out/                            # a release, or a folder of them
  dawa serve ages/ incomes/release.json --port 9000
  curl 'http://127.0.0.1:8000/releases'
  curl 'http://127.0.0.1:8000/releases/ages/answer?lo=18&hi=65'
  curl 'http://127.0.0.1:8000/openapi.json'  # everything that can be asked

\b
It listens on this machine alone unless --host says otherwise, and stops with
Ctrl-C.
"""

OPEN = (
    "Everyone who can reach {address} can ask these releases now: nobody is asked who they are, and nothing is"
    " encrypted. Put a proxy in front of it unless all of them are public."
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
        float, typer.Option(help="Requests per second that a client may send to a worker in the long run.")
    ] = 50.0,
) -> None:
    """Read the releases, say what is served where, and serve it."""
    with reported():
        needs_serve()
        from dawa.server import running, shelf  # noqa: PLC0415  an extra, which may be missing
        from dawa.server.throttle import Throttle  # noqa: PLC0415  likewise

        Throttle(rate)
        running.check(workers)
        read = shelf.filled(places)
        with running.bound(host, port) as listening:
            address = _address(host, listening.getsockname()[1])
            _write(sys.stdout, [f"{address}/releases/{name}  {one.place}" for name, one in read.releases.items()])
            _write(sys.stderr, [*read.skipped, *([] if running.is_loopback(host) else [OPEN.format(address=address)])])
            running.serve(listening, host, read, places, workers=workers, rate=rate)


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _write(target: TextIO, lines: Sequence[str]) -> None:
    """Write lines at once, before the server runs."""
    target.write("".join(plain(line) + "\n" for line in lines))
    target.flush()
