"""Differentially private answers to range queries over an ordered attribute."""
