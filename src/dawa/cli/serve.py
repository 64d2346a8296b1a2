"""``dawa serve``: answer range queries over HTTP."""

from typing import Annotated

import typer

from dawa.cli.errors import reported

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
    """Serve releases."""
    with reported():
        from dawa.cli import serving  # noqa: PLC0415  --help answers without it

        serving.run(places, host, port, workers, rate)
