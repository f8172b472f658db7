from keras_corefmem.datasets import Example, simulator
from zoo.reader_preprocessing import fit_preprocessor


def test_the_head_fits_the_answers():
    def head(examples, **kwargs):
        return fit_preprocessor(examples, **kwargs)[1]

    assert head(simulator.simulate(1, 40)) == "pointer_sum"
    assert head(simulator.simulate(1, 40), head="classification") == "classification"
    assert head(simulator.simulate(6, 40)) == "classification"
    fears = [
        Example((f"{many} are afraid of wolves.", f"{name} is a {one}."), f"What is {name}?", one)
        for name, one, many in (("Gertrude", "mouse", "Mice"), ("Jessica", "sheep", "Sheep"))
    ] + [Example(("Mice are afraid of wolves.",), "What are mice afraid of?", "wolf")]
    assert head(fears) == "pointer_sum"
    assert head(fears, language=None) == "classification"
