"""Times of a SavedModel that answers strings, as JSON; needs nothing but TensorFlow.

python answer_strings.py MODEL QUESTIONS.json '[1, 100, 1000]'
"""

import json
import sys
import time

import tensorflow as tf


def main():
    folder, path, counts = sys.argv[1:]
    with open(path) as file:
        passages, questions = json.load(file)
    seconds = {}

    def clock(name, function, *arguments, repeats=1):
        times = []
        for _ in range(repeats):
            start = time.perf_counter()
            result = function(*arguments)
            times.append(time.perf_counter() - start)
        seconds[f"SavedModel, {name}"] = min(times)
        return result

    model = clock("loading", tf.saved_model.load, folder)
    signature = model.signatures["serving_default"]

    def answer(passages, questions):
        return signature(passage=passages, question=questions)["answer"].numpy()

    for count in json.loads(counts):
        strings = tf.constant(passages[:count]), tf.constant(questions[:count])
        name = f"{count:,} strings" if count > 1 else "1 string"
        clock(f"first {name}", answer, *strings)
        clock(name, answer, *strings, repeats=20 if count < 1000 else 5)
    assert not {"zoo", "keras_corefmem"} & set(sys.modules)
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
