"""Commands that measure: speed and accuracy, as ratios to things measured in the same run."""
