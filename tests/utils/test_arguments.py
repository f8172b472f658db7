import pytest

from keras_corefmem import preprocessing
from keras_corefmem.preprocessing import CandidatePreprocessor, StoryPreprocessor
from keras_corefmem.text import Vocabulary
from keras_corefmem.utils.arguments import check_configuration
from keras_corefmem.utils.files import BadFileError


@pytest.mark.parametrize(
    "config, message",
    [
        ({}, "words: Field required"),
        ({"words": "abc"}, "words: 'str' instances are not allowed"),
        ({"words": ["a", 1]}, "words.1: Input should be a valid string"),
        ({"words": [], "unknown_types": True}, "unknown_types: Input should be a valid integer"),
        ({"words": [], "sizes": 3}, "sizes: Extra inputs are not permitted"),
    ],
)
def test_configurations_are_of_the_types_of_the_constructor(config, message):
    with pytest.raises(BadFileError, match=f"configuration of Vocabulary: {message}.* Give what"):
        Vocabulary.from_config(config)


def test_arguments_of_bases_are_known():
    own = {"words": ["a"], "word_chains": [0], "num_candidates": 2}
    check_configuration(CandidatePreprocessor, {**own, "order": "question_first"})
    for wrong in ({"order": 3}, {"max_chains": "many"}, {"orders": "random"}):
        with pytest.raises(BadFileError, match=next(iter(wrong))):
            check_configuration(CandidatePreprocessor, own | wrong)


@pytest.mark.parametrize("config", [{"class_name": "X", "config": {}}, {"tags": 3}])
def test_preprocessors_of_other_configurations_are_refused(config):
    with pytest.raises(BadFileError, match="onfiguration of "):
        preprocessing.get(config)
    with pytest.raises(BadFileError, match="sentence_length: Field required"):
        StoryPreprocessor.from_config({"words": [], "answers": []})
