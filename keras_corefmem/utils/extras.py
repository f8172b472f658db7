"""Optional packages, which `pip install 'keras_corefmem[EXTRA]'` adds."""

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def extra(name: str, need: str) -> Iterator[None]:
    """Makes a failed import within the block name the extra to install.

    Args:
        name: name of the extra.
        need: beginning of the error, which says what needs which packages.

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
