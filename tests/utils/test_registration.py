"""Registering classes that are imported later; `test_keras_manners` loads files by it."""

import collections
import importlib
import importlib.util
import sys

import keras

from keras_corefmem.utils import registration
from keras_corefmem.utils.registration import register_names


def test_names_stand_for_classes_until_they_are_used():
    register_names("collections", ["Counter"])
    known = keras.saving.get_custom_objects()
    stand_in = known.pop("keras_corefmem>Counter")
    assert stand_in is not collections.Counter
    assert stand_in.fromkeys.__func__ is collections.Counter.fromkeys.__func__


def test_a_class_that_is_imported_stays():
    from keras_corefmem.layers import CorefGRU

    register_names("keras_corefmem.layers", ["CorefGRU"])
    assert keras.saving.get_registered_object("keras_corefmem>CorefGRU") is CorefGRU


def test_who_only_looks_for_keras_does_not_use_up_the_call(monkeypatch, tmp_path):
    (tmp_path / "keras.py").write_text("names = []")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    for name in [name for name in sys.modules if name.partition(".")[0] == "keras"]:
        monkeypatch.delitem(sys.modules, name)
    for n in range(2):
        registration._with_keras(lambda n=n: sys.modules["keras"].names.append(n))
    before = len(sys.meta_path)
    assert importlib.util.find_spec("keras") and importlib.util.find_spec("keras")
    found = importlib.import_module("keras")
    assert sorted(found.names) == [0, 1] and len(sys.meta_path) == before - 2
