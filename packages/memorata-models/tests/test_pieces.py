"""The reader of pieces beside Hugging Face's, on texts in many scripts."""

from pathlib import Path

import pytest
import tokenizers
from hypothesis import example, given
from hypothesis import strategies as st

from memorata_models.tokens import piece_tokeniser

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
    ours, theirs = (
        piece_tokeniser("\n".join(pieces).encode()).ids([text])[0],
        unigram(pieces).encode(text).ids,
    )
    # Where two ways have as many pieces, floating point decides for them.
    assert len(ours) == len(theirs)
    if len(set(pieces)) == len(pieces) and len(text) < 6:
        assert ours.count(len(pieces)) == theirs.count(len(pieces))


@pytest.mark.untraced
def test_sentences_have_the_same_pieces(models: Path) -> None:
    pieces = (models / "potion-multilingual-128" / "pieces.txt").read_text("utf-8").split("\n")
    theirs, ours = unigram(pieces), piece_tokeniser("\n".join(pieces).encode())
    for text in SENTENCES:
        assert ours.ids([text])[0] == theirs.encode(text).ids, text
