"""What nobody knows beforehand, found by a private look at the data: bounds of axes, a cap on the rows of a unit."""
