"""The readers of vocabularies beside Hugging Face's, on texts in many scripts."""

import json
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import example, given
from hypothesis import strategies as st

from memorata.embed.description import package_folder, read_checked
from memorata.embed.onnx import GRANITE_PACK, GRANITE_PACKAGE, GRANITE_SHA256, unpacked
from memorata.embed.subwords import SubwordReader, piece_reader, reader_of
from memorata.embed.tokens import vocabulary_of
from memorata.text import tokens

SENTENCES = [
    "Anna's sister doesn't like 3.5% milk; she'll pay $4 (or €5)…",
    "Мария живёт в Санкт-Петербурге с 2019 года.",
    "Ο Οδυσσέας γύρισε ΣΤΗΝ ΙΘΑΚΗ, ΟΔΟΣ.",
    "Straße, İstanbul, Ångström, naïve café, ﬁn",
    "日本語の文章と、カタカナ・ひらがな。东京没有雨。",
    "한국어 문장은 이렇게 생겼다.",
    "هذه جملة بالعربية، وفيها ٣ كلمات. المَغْرِب",
    "יש לי כלב בשם רקס",
    "मेरा नाम अंजलि है और मैं दिल्ली में रहती हूँ।",
    "ผมชอบกินข้าวผัด",
    "line one\nline\ttwo  \u00a0 three \u200bzero \x0b\x0c\x1cwidth \ufffd\x00",
    "[CLS] is no word [SEP]x, </s><s> neither",
    "👩‍👩‍👧 emoji ½ ² Ⅷ ≠ ≮ a_b __init__ 'S 's 'LL x'",
    "aaaa" * 40,
    "",
    "   ",
]
# The two read different versions of Unicode; whatever is in 3.2 is in both.
OLD = st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs", "Co", "Cn"]).filter(
    lambda letter: (
        unicodedata.ucd_3_2_0.category(letter) == unicodedata.category(letter)
        and letter not in "\u166d\u1734"
    )
)
TEXTS = st.text(OLD | st.sampled_from(list(" \n'’.,aAsStT0ΣßIé字한")), max_size=40)


@pytest.fixture(scope="module")
def granite() -> bytes:
    folder = package_folder(GRANITE_PACKAGE)
    assert folder is not None
    return unpacked(read_checked(folder, GRANITE_PACK, GRANITE_SHA256))[0]


@pytest.fixture(scope="module", params=["granite", "arctic-embed-s", "potion-base-8M"])
def both(
    request: pytest.FixtureRequest, granite: bytes, models: Path
) -> tuple[Callable[[str], list[int]], Callable[[str], list[int]]]:
    """Return our tokens of a text, and theirs."""
    name = request.param
    content = granite if name == "granite" else (models / name / "tokenizer.json").read_bytes()
    reader = reader_of(json.loads(content))
    assert reader is not None
    theirs = tokenizers.Tokenizer.from_str(content.decode())
    theirs.no_truncation()
    theirs.no_padding()
    return reader.ids, lambda text: theirs.encode(text, add_special_tokens=False).ids


@pytest.mark.untraced
@pytest.mark.parametrize("text", SENTENCES)
def test_sentences_have_the_same_tokens(both: tuple[Callable[[str], Any], ...], text: str) -> None:
    ours, theirs = both
    assert ours(text) == theirs(text)


@given(text=TEXTS)
def test_any_text_has_the_same_tokens(both: tuple[Callable[[str], Any], ...], text: str) -> None:
    ours, theirs = both
    assert ours(text) == theirs(text)


def unigram(pieces: list[str]) -> tokenizers.Tokenizer:
    """Return the library's model in which all pieces are as likely, so that the fewest are best."""
    vocabulary = [(piece or f"\0{number}", -1.0) for number, piece in enumerate(pieces)]
    model = tokenizers.models.Unigram([*vocabulary, ("\0", -99.0)], unk_id=len(pieces), byte_fallback=False)
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Split(tokenizers.Regex(r"\W+"), "removed"),
            tokenizers.pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=True),
        ]
    )
    return tokenizer


@given(
    pieces=st.lists(st.text("ab▁c", min_size=1, max_size=4), min_size=1, max_size=12, unique=True),
    text=st.text("abcd -", max_size=20),
)
@example(pieces=["aa"], text="aaa")
def test_a_word_is_cut_into_as_few_pieces_as_can_be(pieces: list[str], text: str) -> None:
    ours, theirs = piece_reader(pieces, "▁").ids(text), unigram(pieces).encode(text).ids
    # Where two ways have as many pieces, floating point decides for them.
    assert len(ours) == len(theirs)
    if len(set(pieces)) == len(pieces) and len(text) < 6:
        assert ours.count(len(pieces)) == theirs.count(len(pieces))


@pytest.mark.untraced
def test_sentences_have_the_same_pieces(models: Path) -> None:
    pieces = (models / "potion-multilingual-128" / "pieces.txt").read_text("utf-8").split("\n")
    theirs, ours = unigram(pieces), piece_reader(pieces, "▁")
    for text in SENTENCES:
        assert ours.ids(text) == theirs.encode(text).ids, text


def test_words_say_where_they_stand(granite: bytes) -> None:
    reader = reader_of(json.loads(granite))
    assert reader is not None
    text = "Anna <s>lives in  Köln"
    spans = list(reader.spans(text))
    assert [text[start:end] for start, end, _ in spans] == [
        "Anna", " ", "<s>", "lives", " in", " ", " Köln",
    ]  # fmt: skip
    assert [number for _, _, ids in spans for number in ids] == reader.ids(text)


def test_the_cache_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MAX_CACHED_WORDS", 3)
    read: list[str] = []

    def once(word: str) -> tuple[int, ...]:
        read.append(word)
        return (len(word),)

    reader = SubwordReader(re.compile(r"\w+"), once, {})
    assert reader.ids("a bb a bb a") == [1, 2, 1, 2, 1]
    assert read == ["a", "bb"]
    assert reader.ids("ccc dddd a") == [3, 4, 1]
    assert read == ["a", "bb", "ccc", "dddd", "a"]


def changed(content: bytes, **parts: object) -> Any:
    return json.loads(content) | parts


def test_other_kinds_are_left_to_the_library(granite: bytes) -> None:
    assert vocabulary_of(json.loads(granite)) is not None
    word = {"id": 9, "content": "x", "single_word": True, "special": False}
    for other in (
        changed(granite, normalizer={"type": "NFC"}),
        changed(granite, pre_tokenizer={"type": "Metaspace"}),
        changed(granite, post_processor={"type": "Sequence"}),
        changed(granite, added_tokens=[word]),
    ):
        assert vocabulary_of(other) is None


@pytest.mark.parametrize("name", ["granite", "arctic-embed-s"])
def test_what_stands_around_texts_and_pairs(name: str, granite: bytes, models: Path) -> None:
    content = granite if name == "granite" else (models / name / "tokenizer.json").read_bytes()
    ours = vocabulary_of(json.loads(content))
    assert ours is not None
    theirs = tokenizers.Tokenizer.from_str(content.decode())
    theirs.no_truncation()
    theirs.no_padding()
    assert ours.rows(["red wine", ""], special=True) == [theirs.encode(text).ids for text in ("red wine", "")]
    (pair,) = ours.pairs("red", ["white wine"])
    expected = theirs.encode("red", "white wine")
    assert (pair.ids, pair.type_ids) == (expected.ids, expected.type_ids)
    assert ours.size == theirs.get_vocab_size()
    assert ours.text(expected.ids[0]) == theirs.id_to_token(expected.ids[0])
    assert ours.text(10**7) == ""
    assert ours.special_count == 2
