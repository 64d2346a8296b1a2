"""Pages about what the code says of itself: public names, commands, mechanisms and the release file."""

from docs.building import commands, python, schema, tuning


def pages() -> dict[str, str]:
    """All of them, by their places in the site."""
    return {
        "reference/commands.md": commands.page(),
        "reference/mechanisms.md": tuning.page(),
        "reference/release-file.md": schema.page(),
    } | python.pages()
