"""How cells lie on a line: a curve through all of them, boxes of them, and intervals inside one another. All public."""
