"""Tables, significance tests and pictures of results."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "agreements": ["agreement"],
        "gained": ["gains"],
        "labels": ["by_label", "read_labels"],
        "numbers": ["number"],
        "plots.figures": ["draw", "draw_search", "redraw"],
        "published": ["PublishedRow", "published_rows"],
        "significance": ["comparison", "holm", "mcnemar"],
        "tables": ["fill", "summary", "tables_of"],
    },
)
