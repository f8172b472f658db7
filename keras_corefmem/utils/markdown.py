"""Markdown tables."""

from collections.abc import Iterable, Sequence


def table_cell(text: str) -> str:
    """Escapes any text for a table cell."""
    return " ".join(text.replace("|", "\\|").splitlines())


def markdown_table(rows: Iterable[Sequence[str]], text_columns: int = 1) -> str:
    """Writes rows of cells as a Markdown table."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    numbers = lines[0].count(" | ") + 1 - text_columns
    lines.insert(1, "|" + "---|" * text_columns + "---:|" * numbers)
    return "\n".join(lines)
