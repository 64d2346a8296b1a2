"""What goes wrong on purpose: hostile input, hostile clients and kills, by commands that count what happened."""
