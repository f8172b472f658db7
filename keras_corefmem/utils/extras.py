"""Packages that only some users need, which `pip install 'keras_corefmem[EXTRA]'` adds."""

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def extra(name: str, need: str) -> Iterator[None]:
    """Names the extra to install where an import within it fails.

    Args:
        name: name of the extra.
        need: what needs which packages, the beginning of the error.

    Example:
        >>> with extra("reports", "Pictures need Matplotlib"):
        ...     import no_such_module
        Traceback (most recent call last):
        ImportError: Pictures need Matplotlib: pip install 'keras_corefmem[reports]'.
    """
    try:
        yield
    except ImportError:
        raise ImportError(f"{need}: pip install 'keras_corefmem[{name}]'.") from None
