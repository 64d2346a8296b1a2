"""The results: an estimate, answers with error bars, and the release that holds both and may be published."""
