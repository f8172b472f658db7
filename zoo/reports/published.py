"""The rows of the papers, to stand beside what is measured."""

# bAbI: test error in percent per task 1 to 20 where published, then mean error and failed tasks (>
# 5%). Others: accuracy in percent by task and, for the best number of passes, by group.
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
    ("babi-1k", "qdren"): {
        "paper": "Madotto and Attardi 2017, QDREN",
        "errors": (
            *(0.0, 67.6, 60.8, 0.0, 2.0, 29.0, 0.7, 2.5, 4.8, 3.8),
            *(0.6, 0.0, 0.0, 15.8, 0.3, 52.0, 37.4, 10.1, 85.0, 0.2),
        ),
        "mean": 18.6,
        "failed": 8,
    },
    ("babi-1k", "ren"): {
        "paper": "Madotto and Attardi 2017, REN",
        "errors": (
            *(0.7, 56.4, 69.7, 1.4, 4.6, 30.0, 22.3, 19.2, 31.5, 15.6),
            *(8.0, 0.8, 9.0, 62.9, 57.8, 53.2, 46.4, 8.8, 90.4, 2.6),
        ),
        "mean": 29.6,
        "failed": 15,
    },
    ("babi-1k", "dmn-supervised"): {
        "paper": "Kumar et al. 2016, DMN, supporting facts",
        "errors": (
            *(0.0, 1.8, 4.8, 0.0, 0.7, 0.0, 3.1, 3.5, 0.0, 2.5),
            *(0.1, 0.0, 0.2, 0.0, 0.0, 0.6, 40.4, 4.7, 65.5, 0.0),
        ),
        "mean": 6.4,
        "failed": 2,
    },
    ("babi-1k", "dmn-plus"): {
        "paper": "Xiong et al. 2016, DMN+, 10,000 questions",
        "errors": (
            *(0.0, 0.3, 1.1, 0.0, 0.5, 0.0, 2.4, 0.0, 0.0, 0.0),
            *(0.0, 0.0, 0.0, 0.2, 0.0, 45.3, 4.2, 2.1, 0.0, 0.0),
        ),
        "mean": 2.8,
        "failed": 1,
    },
    ("babi-1k", "qrn"): {"paper": "Seo et al. 2017, QRN", "mean": 9.9, "failed": 7},
    ("babi-1k", "memn2n"): {
        "paper": "Sukhbaatar et al. 2015, MemN2N",
        "errors": (
            *(0.0, 8.3, 40.3, 2.8, 13.1, 7.6, 17.3, 10.0, 13.2, 15.1),
            *(0.9, 0.2, 0.4, 1.7, 0.0, 1.3, 51.0, 11.1, 82.8, 0.0),
        ),
        "mean": 13.9,
        "failed": 11,
    },
    ("babi-1k", "lstm"): {
        "paper": "Weston et al. 2015, LSTM",
        "errors": (
            *(50.0, 80.0, 80.0, 39.0, 30.0, 52.0, 51.0, 55.0, 36.0, 56.0),
            *(28.0, 26.0, 6.0, 73.0, 79.0, 77.0, 49.0, 48.0, 92.0, 9.0),
        ),
        "mean": 50.8,
        "failed": 20,
    },
    ("babi-1k", "ngram"): {
        "paper": "Weston et al. 2015, n-grams",
        "errors": (
            *(64.0, 98.0, 93.0, 50.0, 80.0, 51.0, 48.0, 60.0, 38.0, 55.0),
            *(71.0, 91.0, 74.0, 81.0, 80.0, 57.0, 54.0, 48.0, 100.0, 24.0),
        ),
        "mean": 65.9,
        "failed": 20,
    },
    ("babi-mix", "ga-mage-gru"): {"paper": "Dhingra et al. 2017, MAGE(16)", "mean": 14.1},
    ("babi-passes", "dmn-supervised"): {
        "paper": "Kumar et al. 2016, DMN, supporting facts",
        "scores": {
            **{"task-3-1": 0.0, "task-3-2": 16.7, "task-3-3": 64.7, "task-3-5": 95.2},
            **{"task-7-1": 48.8, "task-7-2": 49.1, "task-7-3": 83.4, "task-7-5": 96.9},
            **{"task-8-1": 54.0, "task-8-2": 55.6, "task-8-3": 83.4, "task-8-5": 96.5},
        },
        "best": {"task-3": 95.2, "task-7": 96.9, "task-8": 96.5},
    },
    ("sst", "dmn-sentiment"): {
        "paper": "Kumar et al. 2016, test, GloVe 300d",
        "scores": {"fine-0": 50.0, "fine-1": 51.5, "fine-2": 52.1, "fine-3": 50.1},
        "best": {"fine": 52.1, "binary": 88.6},
    },
    ("lambada", "ga-gru"): {
        "paper": "Dhingra et al. 2018, GA, test",
        "scores": {"passages": 53.98},
        "kinds": {"answerable": 66.77},
    },
    ("lambada", "ga-one-hot"): {
        "paper": "Dhingra et al. 2018, GA + one-hot, test",
        "scores": {"passages": 53.38},
        "kinds": {"answerable": 66.03},
    },
    ("lambada", "ga-mage-gru"): {
        "paper": "Dhingra et al. 2017, GA + MAGE(48), test",
        "scores": {"passages": 51.6},
    },
    ("lambada", "ga-coref-gru"): {
        "paper": "Dhingra et al. 2018, GA + C-GRU, test",
        "scores": {"passages": 55.69},
        "kinds": {"answerable": 68.88},
    },
    **{
        ("lambada", name): {
            "paper": f"Cheng and Erk 2020, {row}, test, mean of 4",
            "scores": {"passages": score},
        }
        for name, row, score in (
            ("bidaf", "BiDAF", 59.12),
            ("bidaf-sa-early", "SA-EARLY", 60.54),
            ("bidaf-sa-late", "SA-LATE", 59.48),
            ("bidaf-sa-both", "SA-BOTH", 60.88),
            ("bidaf-sa-early-coref-all", "SA-EARLY + COREFALL", 61.51),
            ("bidaf-sa-early-dependency", "SA-EARLY + DEPPARSE", 61.06),
            ("bidaf-sa-early-coref-previous", "SA-EARLY + COREFPREV", 60.94),
            ("bidaf-sa-early-coref-next", "SA-EARLY + COREFNEXT", 61.27),
            ("bidaf-sa-early-narrative", "SA-EARLY + NARRATIVE", 61.86),
        )
    },
    ("wikihop-train-size", "ga-gru"): {
        "paper": "Dhingra et al. 2018, GA",
        "scores": {"wikihop-1000": 26.3, "wikihop-5000": 33.6},
    },
    ("wikihop-train-size", "ga-coref-gru"): {
        "paper": "Dhingra et al. 2018, GA + C-GRU",
        "scores": {"wikihop-1000": 33.0, "wikihop-5000": 40.1},
    },
    ("pos", "dmn-tagger"): {
        "paper": "Kumar et al. 2016, WSJ dev",
        "best": {"words": 97.5},
    },
}
