"""How cells lie on a line: a curve through all cells, boxes of cells, and nested intervals. All public."""
