"""What may happen to a file: functions from its bytes and a random generator to other bytes."""

import random
import re

DEEP, LONG = 100_000, 1_000_000
NUMBERS = ["-1", "0", "1e999", "NaN", "0.5", str(2**31), str(2**63), "9" * 5000, "true", "null"]


def truncate(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content) + 1)]


def flip_bits(content: bytes, draw: random.Random) -> bytes:
    flipped = bytearray(content)
    for _ in range(draw.randint(1, 8) if content else 0):
        flipped[draw.randrange(len(flipped))] ^= 1 << draw.randrange(8)
    return bytes(flipped)


def swap_lines(content: bytes, draw: random.Random) -> bytes:
    lines = content.split(b"\n")
    first, second = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return b"\n".join(lines)


def drop_line(content: bytes, draw: random.Random) -> bytes:
    lines = content.split(b"\n")
    del lines[draw.randrange(len(lines))]
    return b"\n".join(lines)


def other_number(content: bytes, draw: random.Random) -> bytes:
    return _replace(rb"\d+", draw.choice(NUMBERS).encode(), content, draw)


def other_word(content: bytes, draw: random.Random) -> bytes:
    new = draw.choice([b"", b"x", b'"', b"[]", b"{}", b"\xc3\xa9", b"a" * 1000, b"../..", b"-"])
    return _replace(rb'"[^"\n]*"|\w+', new, content, draw)


def insert(content: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(content) + 1)
    new = draw.choice([b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\r", b"\xe2\x80\xa8", b"\t", b"\n\n"])
    return content[:place] + new + content[place:]


def nest_deeply(content: bytes, draw: random.Random) -> bytes:
    bracket = draw.choice([b"[", b'{"a":', b"(", b"(A "])
    place = draw.choice([0, len(content), draw.randrange(len(content) + 1)])
    return content[:place] + bracket * DEEP + content[place:]


def long_line(content: bytes, draw: random.Random) -> bytes:
    place, piece = draw.randrange(len(content) + 1), draw.choice([b"a", b"1", b"a ", b"()", b" "])
    return content[:place] + piece * (LONG // len(piece)) + content[place:]


def windows(content: bytes, draw: random.Random) -> bytes:
    return b"\xef\xbb\xbf" * draw.randint(0, 2) + content.replace(b"\n", b"\r\n")


def empty(content: bytes, draw: random.Random) -> bytes:
    return draw.choice([b"", b"\n", b"{}", b"[]", b"null", b"3", b'"text"', b"[[]]", b"[{}]"])


def _replace(pattern: bytes, new: bytes, content: bytes, draw: random.Random) -> bytes:
    found = list(re.finditer(pattern, content))
    if not found:
        return content
    start, end = draw.choice(found).span()
    return content[:start] + new + content[end:]


MUTATIONS = (truncate, flip_bits, swap_lines, drop_line, other_number, other_word, insert)
MUTATIONS += (nest_deeply, long_line, windows, empty)
