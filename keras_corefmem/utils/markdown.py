"""Tables of Markdown."""

from collections.abc import Iterable, Sequence


def markdown_table(rows: Iterable[Sequence[str]], text_columns: int = 1) -> str:
    """Writes rows of cells as a Markdown table.

    Args:
        rows: the cells; the first row is the heading.
        text_columns: how many of the first columns are flush left, as text is; numbers, in the
            others, are flush right.

    Example:
        >>> from keras_corefmem.utils.markdown import markdown_table
        >>> print(markdown_table([("layer", "ms"), ("GRU", "12")]))
        | layer | ms |
        |---|---:|
        | GRU | 12 |
    """
    lines = [f"| {' | '.join(row)} |" for row in rows]
    numbers = lines[0].count(" | ") + 1 - text_columns
    lines.insert(1, "|" + "---|" * text_columns + "---:|" * numbers)
    return "\n".join(lines)
