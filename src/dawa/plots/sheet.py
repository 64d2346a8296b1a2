"""A figure that a notebook shows as a picture. Others do so only after ``%matplotlib inline``, which nobody need know."""

import io

from matplotlib.figure import Figure


class Sheet(Figure):  # type: ignore[misc]  # Matplotlib's, without types here
    """A plain figure otherwise."""

    def _repr_png_(self) -> bytes:
        """What IPython asks for when a figure is the last value of a cell."""
        found = io.BytesIO()
        self.savefig(found, format="png", dpi=self.dpi)
        return found.getvalue()
