import inspect

import pytest

import zoo
from zoo import architectures
from zoo.architectures.listing import describe_arguments, list_arguments
from zoo.configs import configuration

CLASSES = sorted({configuration(model).class_name for model in zoo.models()})


@pytest.mark.parametrize("name", CLASSES)
def test_the_source_lists_what_classes_take(name):
    listed, model = list_arguments(name), getattr(architectures, name)
    assert sorted(listed) == model.arguments()
    assert all(argument.description for argument in listed.values())
    for argument, (default, *_) in listed.items():
        assert eval(default) == inspect.signature(model.from_examples).parameters[argument].default


def test_entries_of_docstrings_are_told_apart():
    entries = "    a: one,\n        of two.\n    b_2: the other.\n    **c: more."
    text = f"Adds.\n\nArgs:\n{entries}\n\nReturns:\n    x: y"
    assert describe_arguments(text) == {"a": "one, of two.", "b_2": "the other."}
    assert describe_arguments("Nothing.") == {}
