"""A figure that a notebook shows as a picture; others are shown after ``%matplotlib inline`` only."""

import io

from matplotlib.figure import Figure


class Sheet(Figure):
    """A plain figure otherwise."""

    def _repr_png_(self) -> bytes:
        """What IPython asks for when a figure is the last value of a cell."""
        found = io.BytesIO()
        self.savefig(found, format="png", dpi=self.dpi)
        return found.getvalue()
