"""The published experiments as data: which models, tasks and settings, and the papers' rows."""

BABI_MODELS = (
    "ga-mage-gru",
    "ga-coref-gru",
    "ga-gru",
    "ga-one-hot",
    "ga-dag-rnn",
    "as-gru",
    "as-mage-gru",
    "as-coref-gru",
)
TASKS = tuple(range(1, 21))

STUDIES = {
    "babi-1k": {
        "description": "bAbI v1.2, 900 training, 100 validation and 1000 test questions a task",
        "models": BABI_MODELS,
        "dataset": "babi",
    },
    "babi-mix": {
        "description": "bAbI-Mix: two interleaved stories in two worlds, made from bAbI-1k",
        "models": ("ga-mage-gru",),
        "dataset": "babi-mix",
    },
}

# Test error in percent per task 1 to 20 where published, then mean error and failed tasks (> 5%).
PUBLISHED = {
    ("babi-1k", "ga-mage-gru"): {
        "paper": "Dhingra et al. 2017, GA + MAGE(16)",
        "errors": (
            *(0.0, 1.0, 1.5, 0.0, 0.6, 0.5, 4.8, 2.5, 0.2, 0.4),
            *(0.1, 0.0, 0.6, 13.8, 18.4, 2.4, 43.2, 5.5, 76.0, 2.4),
        ),
        "mean": 8.7,
        "failed": 5,
    },
    ("babi-1k", "ga-coref-gru"): {
        "paper": "Dhingra et al. 2018, GA + C-GRU (max)",
        "errors": (
            *(0.0, 1.0, 1.8, 0.0, 0.7, 2.4, 2.4, 3.6, 1.0, 1.4),
            *(0.4, 0.4, 0.7, 15.1, 53.0, 0.1, 42.6, 10.4, 90.1, 0.0),
        ),
        "mean": 11.4,
        "failed": 5,
    },
    ("babi-1k", "ga-gru"): {"paper": "Dhingra et al. 2017, GA", "mean": 24.1, "failed": 13},
    ("babi-1k", "ga-one-hot"): {
        "paper": "Dhingra et al. 2017, GA + one-hot",
        "mean": 25.0,
        "failed": 13,
    },
    ("babi-1k", "ga-dag-rnn"): {
        "paper": "Dhingra et al. 2017, GA + DAG-RNN",
        "mean": 21.8,
        "failed": 13,
    },
    ("babi-1k", "as-gru"): {"paper": "Dhingra et al. 2017, bi-GRU", "mean": 23.7, "failed": 13},
    ("babi-1k", "as-mage-gru"): {
        "paper": "Dhingra et al. 2017, bi-GRU + MAGE(16)",
        "mean": 10.3,
        "failed": 9,
    },
    ("babi-1k", "as-coref-gru"): {
        "paper": "Dhingra et al. 2018, Bi-C-GRU (max)",
        "mean": 16.9,
        "failed": 12,
    },
    ("babi-mix", "ga-mage-gru"): {"paper": "Dhingra et al. 2017, MAGE(16)", "mean": 14.1},
}
