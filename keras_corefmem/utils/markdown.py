"""Tables of Markdown."""

from collections.abc import Iterable, Sequence


def markdown_table(rows: Iterable[Sequence[str]], text_columns: int = 1) -> str:
    """Writes rows of cells as a Markdown table."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    numbers = lines[0].count(" | ") + 1 - text_columns
    lines.insert(1, "|" + "---|" * text_columns + "---:|" * numbers)
    return "\n".join(lines)
