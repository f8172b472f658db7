import json
import re

import pytest

from keras_corefmem.datasets import gap
from zoo.cli import app as cli

CONLL = """#begin document (tale); part 0
tale 0 0 Mary NNP (0)
tale 0 1 slept VBD -
tale 0 2 . . -

tale 0 0 She PRP (0)
tale 0 1 left VBD -
tale 0 2 . . -

#end document
"""
GAP = "x-1\tMary met John, and she left.\tshe\t19\tMary\t0\tTRUE\tJohn\t9\tFALSE\thttp://x"


@pytest.fixture(scope="session")
def pipeline(tmp_path_factory):
    """A saved pipeline that takes each token for the object of the one before it."""
    spacy = pytest.importorskip("spacy")

    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("attribute_ruler")
    for text, tag in (("Mary", "NNP"), ("John", "NNP"), ("She", "PRP"), ("she", "PRP")):
        ruler.add([[{"TEXT": text}]], {"TAG": tag, "DEP": "nsubj"})
    ruler.add([[{"TEXT": {"NOT_IN": ["Mary", "John", "She", "she"]}}]], {"TAG": "VBD", "DEP": "x"})
    folder = tmp_path_factory.mktemp("pipeline") / "ruled"
    nlp.to_disk(folder)
    return folder


@pytest.fixture
def data_dir(tmp_path):
    folder = tmp_path / "data"
    (folder / "conll").mkdir(parents=True)
    (folder / "conll" / "tale.conll").write_text(CONLL)
    (folder / "gap-validation.tsv").write_text("\t".join(gap.COLUMNS) + f"\n{GAP}\n")
    return folder


def run(dataset, pipeline, data_dir, *options):
    results = data_dir.parent / "results"
    command = ["score", dataset, "--data-dir", str(data_dir), "--annotator", str(pipeline)]
    return cli.main([*command, "--results", str(results), *options]), results / "coreference"


@pytest.mark.parametrize("mentions", ["predicted", "gold"])
def test_litbank_is_scored(pipeline, data_dir, mentions, capsys):
    status, folder = run("litbank", pipeline, data_dir, "--mentions", mentions)
    assert status == 0
    result = json.loads((folder / f"litbank-{mentions}-en_pipeline.json").read_text())
    assert result["scores"]["all"]["conll"] == 1.0
    assert result["scores"]["without_singletons"]["muc"]["f1"] == 1.0
    assert result["tokens"] == 6 and result["documents"] == 1
    assert set(result["seconds"]) == {"pipeline", "resolver"}
    assert result["command"].endswith(f"--annotator en_pipeline --mentions {mentions}")
    assert {"spacy", "scipy"} <= set(result["versions"])
    printed = capsys.readouterr().out
    assert "CoNLL F1: 100.00" in printed and "CEAFe" in printed and "tokens a second" in printed


@pytest.mark.parametrize(
    ("dataset", "option", "known"),
    [("gap", ["--mentions", "gold"], "litbank"), ("litbank", ["--part", "test"], "gap")],
)
def test_options_of_the_other_data_set_are_refused(dataset, option, known, tmp_path, capsys):
    status, _ = run(dataset, tmp_path, tmp_path, *option)
    assert status == 2
    assert f"{' '.join(option)} is for {known}: leave it out." in capsys.readouterr().err


def test_gap_is_scored(pipeline, data_dir, capsys):
    status, folder = run("gap", pipeline, data_dir, "--part", "validation")
    assert status == 0
    result = json.loads((folder / "gap-validation-en_pipeline.json").read_text())
    assert result["scores"]["overall"]["f1"] == 1.0 and result["scores"]["bias"] is None
    assert result["pronouns"] == 1
    assert "Bias (F/M): -" in capsys.readouterr().out


def test_scores_of_another_pipeline_of_the_same_name_are_kept(pipeline, data_dir, tmp_path, capsys):
    spacy = pytest.importorskip("spacy")
    _, folder = run("litbank", pipeline, data_dir)
    path = folder / "litbank-predicted-en_pipeline.json"
    before = path.read_text()
    nlp = spacy.load(pipeline)
    nlp.get_pipe("attribute_ruler").add([[{"TEXT": "slept"}]], {"DEP": "nsubj"})
    nlp.to_disk(tmp_path / "another")
    capsys.readouterr()
    assert run("litbank", tmp_path / "another", data_dir)[0] == 2
    assert f"{path} has the scores of another pipeline named en_pipeline: remove it" in (
        capsys.readouterr().err
    )
    assert path.read_text() == before
    # Files of version 0.1 have no SHA-256.
    older = json.loads(before)
    del older["pipeline"]["sha256"]
    path.write_text(json.dumps(older))
    assert run("litbank", tmp_path / "another", data_dir)[0] == 0


def test_what_is_missing_is_said(pipeline, data_dir, capsys, tmp_path):
    assert run("gap", "exact", data_dir)[0] == 2
    assert "--annotator exact is no spaCy pipeline: give" in capsys.readouterr().err
    for dataset, folder, options, message in (
        ("litbank", tmp_path / "none", (), "No .conll files in .*none; get coref/conll of https"),
        ("gap", data_dir, ("--part", "test"), ".*gap-test.tsv: no such file, get it from https"),
    ):
        assert run(dataset, pipeline, folder, *options)[0] == 2
        assert re.search(f"corefmem: error: {message}", capsys.readouterr().err)


@pytest.mark.thorough
def test_mentions_of_a_resolving_pipeline_are_its_own(pipeline, data_dir, tmp_path, capsys):
    spacy = pytest.importorskip("spacy")
    nlp = spacy.load(pipeline)
    nlp.add_pipe("corefmem_resolver")
    nlp.to_disk(tmp_path / "resolving")
    assert run("litbank", tmp_path / "resolving", data_dir, "--mentions", "gold")[0] == 2
    assert "finds mentions of its own" in capsys.readouterr().err
    assert run("litbank", tmp_path / "resolving", data_dir)[0] == 0
    assert run("gap", tmp_path / "resolving", data_dir, "--part", "validation")[0] == 0


def test_real_scores_do_not_fall(real_data, ud_pipeline):
    from keras_corefmem.graphs.coreference import Resolver
    from keras_corefmem.graphs.coreference.scores import score_chains
    from keras_corefmem.graphs.formats.conll import read_conll
    from zoo.experiments.coreference import LITBANK_KINDS, make_doc

    paths = sorted(real_data("litbank/conll").glob("*.conll"))[:4]
    resolver, predicted, given = Resolver(singletons=True, kinds=LITBANK_KINDS), [], []
    for ((_, document),) in map(read_conll, paths):
        key = [[mention[:2] for mention in chain] for chain in document.chains]
        doc = ud_pipeline(make_doc(ud_pipeline, document))
        for pairs, spans in ((predicted, None), (given, sorted(m for c in key for m in c))):
            chains = resolver.chains(doc, spans)
            pairs.append((key, [[(p.start, p.end) for p in chain] for chain in chains]))
    assert score_chains(predicted)["conll"] > 0.45
    assert score_chains(given)["conll"] > 0.65
