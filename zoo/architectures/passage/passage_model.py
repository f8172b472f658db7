"""The base class of readers of passages."""

import functools
from collections.abc import Mapping

import numpy as np

from keras_corefmem import callbacks as boards
from keras_corefmem.graphs.edges import COREFERENCE
from keras_corefmem.preprocessing.encoding.layout import PASSAGE_LEADS, Layout, sequences
from keras_corefmem.utils.checks import check_positions
from keras_corefmem.visualization import views
from zoo.architectures.passage.edge_attention import EdgeAttentionLogs, EdgeShares, edge_weights
from zoo.architectures.passage.encoders import structure_read
from zoo.architectures.text_model import TextModel, without_unknown
from zoo.configs.widths import edge_widths

# Number of examples on which `fit` measures the attention to edges.
MEASURED = 128


def check_edge_units(config):
    """Checks that the edges of a `mage_gru` leave units for the sequence."""
    units, edge_units, types = config.units, config.edge_units, config.edge_types
    widths = edge_widths(types, edge_units)
    if len(widths) != len(types):
        raise ValueError(
            f"edge_units must be one number, or one for each of {', '.join(types)}; got {widths}."
        )
    if sum(widths) >= units:
        total = f" for each of {len(types)} edge types" if len(types) > 1 else ""
        raise ValueError(
            "edge_units must be less than units for mage_gru, which keeps the rest for the "
            f"sequence; got edge_units={edge_units}{total} and units={units}."
        )


class PassageModel(TextModel):
    """A model that reads a passage token by token."""

    @classmethod
    def check_arguments(cls, config):
        encoder, units, types = config.encoder, config.units, config.edge_types
        if encoder == "mage_gru_shared" and units <= len(types):
            least = len(types) + 1
            raise ValueError(
                f"units must be an integer of at least {least} for {encoder}, got {units}."
            )
        if encoder == "coref_gru" and units % 2:
            raise ValueError(
                f"units must be even for coref_gru, half for coreference; got {units}."
            )
        if encoder == "mage_gru":
            check_edge_units(config)
        if structure_read(encoder) != "sources" and types != [COREFERENCE]:
            raise ValueError(
                f"edge_types {', '.join(types)} need an encoder that reads sources, such as "
                f"mage_gru; {encoder} does not."
            )
        if config.edge_attention and encoder not in ("mage_gru", "mage_gru_shared"):
            raise ValueError(
                f"edge_attention is for mage_gru and mage_gru_shared, not for {encoder}."
            )

    @staticmethod
    def shared_with(preprocessor):
        names = "joint", "order", "max_chains", "edge_types", "max_sources"
        shared = {name: getattr(preprocessor, name) for name in names}
        if preprocessor.local:
            shared["answer_head"] = preprocessor.head
            shared["num_characters"] = preprocessor.num_characters
            shared["word_length"] = preprocessor.word_length
        return shared

    @property
    def order(self):
        """The order of passage and question if they are one sequence."""
        return {**self.config, **self.FIXED}["order"]

    @property
    def has_shared_answers(self):
        return not self.preprocessor.local

    def id_counts(self):
        counts, config = super().id_counts(), self.config
        for part in ("passage", "question"):
            counts[f"{part}_chains"] = config["max_chains"] + 1
            counts[f"{part}_characters"] = config["num_characters"]
        counts |= {"candidates": config["num_answers"], "passage_asked": 3}
        return {name: count for name, count in counts.items() if name in self.features}

    def check_features(self, features):
        """Checks that ids are in range, and that edges are in range and point backward."""
        super().check_features(features)
        read = (s for s in ("sources", "antecedents") if f"passage_{s}" in self.features)
        structure = next(read, None)
        if structure is None:
            return
        leads = features.get(PASSAGE_LEADS)
        leads = None if leads is None else np.asarray(leads) != 0
        # Positions of a joint sequence count from the start of its first part.
        for parts in sequences(self.config["joint"], self.order):
            names = {part: f"{part}_{structure}" for part in parts}
            links = {part: np.asarray(features[name]) for part, name in names.items()}
            joined = Layout(parts, {}, leads).join(links)
            check_positions(joined, f"{' and '.join(names.values())}: position")

    @functools.cached_property
    def _edge_weights(self):
        return self.predictor(edge_weights(self))

    def attend_to_edges(self, features, rows=None):
        """Computes the mean attention to edges of each type, over the tokens that read an edge.

        It is the mean over layers and directions; the rest is the attention to the `"sequence"`.

        Args:
            features: dictionary of at least the features in `model.features`, as arrays; or
                `Batches` of examples, from `model.batches`.
            rows: number of examples of a dictionary that count, the first ones; `None` for all.

        Returns:
            Dictionary of floats by type, which sum to 1.

        Raises:
            ValueError: if the model has no edge attention, or an id or edge is out of range.
        """
        return self.edge_shares(features, rows).shares

    def edge_shares(self, features, rows=None):
        """Computes the `EdgeShares` of `attend_to_edges`."""
        if not self.config["edge_attention"]:
            raise ValueError("This reader sums its edges: give it edge_attention=True.")
        parts = [features]
        if not isinstance(features, Mapping):
            parts = (features[index][0] for index in range(len(features)))
        shares = EdgeShares(self.config["edge_types"])
        for part in parts:
            shares.add(self.predict_with(self._edge_weights, part), rows)
        return shares

    @functools.cached_property
    def _state_logits(self):
        answer = self.get_layer("answer")
        return self.predictor({"logits": without_unknown(answer(self.states_output))})

    def follow(self, features, ends):
        """Answers after each sentence, from the states of a single reading of the passage.

        A classifier answers from the state of the last token of the sentence. A pointer sum, also
        one in a mixture, points at the tokens up to there if one of them mentions an answer.

        Args:
            features: dictionary of at least the features in `model.features`, as arrays.
            ends: `(batch, sentences)`, 1-based position of the last token of each sentence; 0 for
                none.

        Returns:
            Probabilities of the answers, `(batch, sentences, answers)`, which sum to 1, or to 0 if
            there is nothing to point at.

        Reference: Figure 4 of [Dhingra et al., 2017](https://arxiv.org/abs/1703.02620).
        """
        ends = np.asarray(ends)[..., None]
        if self.states_output is not None:
            logits = self.predict_with(self._state_logits, features)["logits"]
            odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
            odds = np.concatenate([np.zeros_like(odds[:, :1]), odds], axis=1)
        else:
            mentions = np.asarray(features["candidates"])
            if mentions.ndim == 2:
                mentions = mentions[..., None] == np.arange(1, self.output.shape[-1])
                mentions = np.pad(mentions, ((0, 0), (0, 0), (1, 0)))
            pointed = self.attend(features)[..., None] * mentions
            odds = np.pad(np.cumsum(pointed, axis=1), ((0, 0), (1, 0), (0, 0)))
        odds = np.take_along_axis(odds, ends, axis=1) ** (1 / self.temperature)
        return odds / np.maximum(odds.sum(axis=-1, keepdims=True), np.finfo(odds.dtype).tiny)

    def answer_views(self, examples):
        shown = views.reading_views(examples, self.preprocessor, self.follow)
        pairs = zip(super().answer_views(examples), shown, strict=True)
        return [{**others, "one-reading": view} for others, view in pairs]

    def measuring_callbacks(self, batches):
        if not self.config["edge_attention"]:
            return super().measuring_callbacks(batches)
        return [EdgeAttentionLogs(self.preprocessor, batches.encoded[:MEASURED])]

    def views(self, examples):
        look = self.attend_to_edges if self.config["edge_attention"] else None
        shown = views.token_views(examples, self.preprocessor, self.inspect, look)
        return [[view] for view in shown]

    def tensorboard_callbacks(self, log_dir, examples):
        shown = log_dir, examples, self.preprocessor
        watching = [
            boards.AttentionPictures(*shown, self.inspect),
            boards.AnswerFromOneReading(*shown, self.follow),
        ]
        if self.config["edge_attention"]:
            watching.append(boards.EdgeAttention(*shown, self.attend_to_edges))
        return [*super().tensorboard_callbacks(log_dir, examples), *watching]
