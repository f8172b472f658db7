"""Registering classes that are imported later; `test_keras_manners` loads files by it."""

import collections

import keras

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
