"""How far the passes of an episodic memory are from the facts that they should attend to."""

from keras import ops


def supervision_targets(facts, passes, time, end_of_passes):
    """The 1-based column of the scores that each pass should attend to, 0 = any.

    Args:
        facts: int `(batch, facts)`, the fact of each pass, 1-based; 0 = none, behind the others.
        passes: number of passes; further facts do not count.
        time: number of columns.
        end_of_passes: whether the last column ends the reading, as the pass behind the last fact
            should.

    Returns:
        `(batch, passes)`.
    """
    facts = ops.cast(facts, "int32")
    count = ops.sum(ops.cast(facts > 0, "int32"), axis=-1, keepdims=True)
    facts = ops.pad(facts[:, :passes], ((0, 0), (0, max(0, passes - facts.shape[1]))))
    if not end_of_passes:
        return facts
    ends = ops.logical_and(ops.arange(passes)[None] == count, count > 0)
    return ops.where(ends, time, facts)


def supervision_loss(scores, facts, end_of_passes):
    """`- mean log softmax_t(s_i)[f_i]` over all passes i that should attend to a fact `f_i`.

    Args:
        scores: float32 `(batch, passes, time)`, -1e9 where masked.
        facts: as in `supervision_targets`.
        end_of_passes: as in `supervision_targets`.

    Returns:
        A scalar; 0 where no pass should attend to any.
    """
    passes, time = ops.shape(scores)[1:]
    targets = supervision_targets(facts, passes, time, end_of_passes)
    wanted = ops.cast(targets > 0, "float32")
    index = ops.maximum(targets, 1)[..., None] - 1
    picked = ops.take_along_axis(ops.log_softmax(scores, axis=-1), index, axis=-1)[..., 0]
    return -ops.sum(wanted * picked) / ops.maximum(ops.sum(wanted), 1)
