"""Data sets by name, for the command line and the studies."""

DATASETS = {
    "simulator": "stories like bAbI's, simulated: nothing to download",
    "babi": "the 20 bAbI tasks, v1.2",
    "babi-mix": "bAbI-Mix: two bAbI stories of two worlds, told at once",
}


def load(dataset, task, data_dir=None, language=None):
    """Loads one task of a data set.

    Args:
        dataset: one of `DATASETS`.
        task: number of a bAbI task.
        data_dir: folder of bAbI's files; by default where `babi.download()` puts them.
        language: bAbI's language folder, see `babi.load`.

    Returns:
        `Splits`.

    Raises:
        ValueError: if the data set or task does not exist.
        FileNotFoundError: if the files are not there.
    """
    from keras_corefmem.datasets import Splits, babi, simulator
    from keras_corefmem.datasets.mix import mix
    from keras_corefmem.graphs import learn_entities
    from keras_corefmem.text import get_tokenizer

    if dataset not in DATASETS:
        raise ValueError(f"There is no data set {dataset!r}; choose one of {', '.join(DATASETS)}.")
    if dataset == "simulator":
        return simulator.load(task)
    splits = babi.load(data_dir or babi.cache_folder(), task, language)
    if dataset == "babi":
        return splits
    entities = learn_entities(splits.train, get_tokenizer("words"))
    parts = (splits.train, splits.valid, splits.test)
    return Splits(*(mix(part, entities, seed=n) for n, part in enumerate(parts)))
