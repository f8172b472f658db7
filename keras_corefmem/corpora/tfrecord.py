"""TFRecord files written without TensorFlow, whose import takes longer than thousands of texts."""

import functools
import json
import pathlib
import struct
from collections.abc import Iterable

import numpy as np

from keras_corefmem.corpora.index import REMEDY
from keras_corefmem.graphs.annotation import Annotation
from keras_corefmem.utils.files import BadFileError, Path, replacing

Record = tuple[Annotation, dict]

# Features of one value, of one value per item, such as a token, and of several per item.
SCALARS = ("text", "fields")
STRINGS = ("tokens", "labels", "tags", "relation_types", "named_entities")
INTEGERS = ("starts", "sentences", "heads")
TUPLES = {"mentions": 4, "relation_ends": 2}
FEATURES = (*SCALARS, *STRINGS, *INTEGERS, *TUPLES)
# Left out if there are none, and missing from records of version 0.1.
OPTIONAL = ("named_entities",)

# Bytes of a TFRecord besides its content: its length and two checksums.
FRAME = 16
# Bytes whose checksum is computed at once.
_BLOCK = 1024


def to_example(annotation: Annotation, fields: dict) -> bytes:
    """Serializes a record as a `tf.train.Example`; equal records give equal bytes."""
    try:
        encoded = json.dumps(fields, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"JSON cannot hold the fields {fields!r:.200}: {error}.") from None
    values = annotation.to_dict() | {"text": [annotation.text], "fields": [encoded]}
    chains = enumerate(annotation.chains)
    values["mentions"] = [n for chain, spans in chains for span in spans for n in (chain, *span)]
    relations = values["relations"]
    values["relation_ends"] = [end for relation in relations for end in relation[:2]]
    values["relation_types"] = [kind for *_, kind in relations]
    entries = (
        _message(1, _message(1, name.encode()) + _message(2, _feature(name, values[name])))
        for name in sorted(FEATURES)
        if name in values
    )
    return _message(1, b"".join(entries))


def _feature(name, values):
    if name in INTEGERS or name in TUPLES:
        packed = b"".join(map(_varint, values))
        return _message(3, _message(1, packed) if packed else b"")
    return _message(1, b"".join(_message(1, value.encode()) for value in values))


def _message(number, content):
    """Encodes a protocol buffer field that is a string or a message."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number):
    if number < 128:
        return _BYTES[number]
    return _BYTES[number & 127 | 128] + _varint(number >> 7)


_BYTES = [bytes([n]) for n in range(256)]


def write_shard(path: Path, records: Iterable[Record]) -> None:
    """Writes a file of records, complete or not at all.

    Args:
        path: the file.
        records: pairs of `Annotation` and a dictionary of further facts about the text.

    Raises:
        ValueError: if JSON cannot hold some fields.

    Example:
        >>> (annotation,) = keras_corefmem.graphs.annotate(["Mary left."])
        >>> keras_corefmem.corpora.write_shard("a.tfrecord", [(annotation, {"year": 1813})])
        >>> [fields for _, fields in keras_corefmem.corpora.read_shard("a.tfrecord")]
        [{'year': 1813}]
    """
    with replacing(path) as partial, partial.open("wb") as file:
        for annotation, fields in records:
            record = to_example(annotation, fields)
            length = struct.pack("<Q", len(record))
            file.write(length + _checksum(length) + record + _checksum(record))


def check_lengths(path: Path) -> None:
    """Raises an error for a record whose stated length exceeds the rest of its file.

    If the checksum of this length is right, TensorFlow would allocate all of it.

    Args:
        path: the file.

    Raises:
        ValueError: if there is such a record.
    """
    size, begin, number = pathlib.Path(path).stat().st_size, 0, 0
    with open(path, "rb") as file:
        while len(frame := file.read(FRAME - 4)) == FRAME - 4:
            (length,), number = struct.unpack("<Q", frame[:8]), number + 1
            begin += FRAME + length
            if begin > size:
                if frame[8:] == _checksum(frame[:8]):
                    raise BadFileError(f"{path}: record {number} is broken; {REMEDY}")
                return
            file.seek(begin)


def _checksum(content):
    """Returns the masked CRC-32C of some bytes, as in TFRecords."""
    state, places = 0xFFFFFFFF, _crc_places()
    for begin in range(0, len(content), _BLOCK):
        block = np.frombuffer(content[begin : begin + _BLOCK], np.uint8).copy()
        head = struct.pack("<I", state)[: len(block)]
        block[: len(head)] ^= np.frombuffer(head, np.uint8)
        added = places[-len(block) :][np.arange(len(block)), block]
        state = state >> 8 * len(head) ^ int(np.bitwise_xor.reduce(added))
    crc = state ^ 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


@functools.cache
def _crc_places():
    """Returns what each byte adds to the CRC of a block, by place and value: `(_BLOCK, 256)`."""
    table = np.arange(256, dtype="uint32")
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ 0x82F63B78, table >> 1).astype("uint32")
    places = [table]
    for _ in range(_BLOCK - 1):
        places.append(places[-1] >> 8 ^ table[places[-1] & 255])
    return np.stack(places[::-1])
