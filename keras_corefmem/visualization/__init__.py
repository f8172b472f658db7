"""Pictures and terminal views of what a model attends to and answers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=["views"],
    submod_attrs={
        "html": ["chains_to_html"],
        "pages": ["views_to_html"],
        "pictures": ["draw"],
        "terminal": ["make_console", "print_view"],
        "views": ["HeadView", "TableView", "TokenView"],
    },
)
