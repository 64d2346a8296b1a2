"""What ``dawa serve`` says before it serves."""

import sys
from collections.abc import Sequence

from dawa.server import needs_serve

OPEN = (
    "Everyone who can reach {address} can ask these releases now: nobody is asked who they are, and nothing is"
    " encrypted. Put a proxy in front of it unless all of them are public."
)


def run(places: Sequence[str], host: str, port: int, workers: int, rate: float) -> None:
    """Read the releases, say what is served where, and serve it."""
    needs_serve()
    from dawa.server import running, shelf  # noqa: PLC0415  an extra, which may be missing
    from dawa.server.throttle import Throttle  # noqa: PLC0415  likewise

    Throttle(rate)
    running.check(workers)
    read = shelf.filled(places)
    with running.bound(host, port) as listening:
        address = _address(host, listening.getsockname()[1])
        lines = [f"{address}/releases/{name}  {shelved.place}" for name, shelved in read.releases.items()]
        sys.stdout.write("".join(_plain(line) + "\n" for line in lines))
        sys.stdout.flush()
        warnings = [*read.skipped, *([] if running.is_loopback(host) else [OPEN.format(address=address)])]
        sys.stderr.write("".join(_plain(line) + "\n" for line in warnings))
        running.serve(listening, host, read, places, workers=workers, rate=rate)


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _plain(line: str) -> str:
    """One line, and nothing that moves a terminal's cursor: names of files may hold anything."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
