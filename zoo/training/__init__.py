"""Settings, batches, progress, evaluation and devices of a training run."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "batches": ["PARTS", "batch_parts", "calibration_examples", "draw_parts", "make_batches"],
        "calibration": ["calibrate"],
        "parallel": ["data_parallel"],
        "evaluation": ["evaluate", "expected_calibration_error"],
        "fitting": ["fit", "make_model", "prepare"],
        "progress": ["Progress"],
        "settings": ["Settings", "check_arguments", "merge_settings", "split_settings"],
    },
)
