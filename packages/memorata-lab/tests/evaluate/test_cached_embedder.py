from pathlib import Path

import numpy as np
import pytest

from memorata.embed.lexical import LexicalEmbedder
from memorata.embed.port import Embedder
from memorata.model.errors import StoreUnavailable
from memorata_lab.evaluate.cached_embedder import CachedEmbedder

TEXTS = ["green tea", "a train to Oslo", "green tea", ""]


def test_what_was_computed_once_is_read_back_by_another_process_of_the_same_file(tmp_path: Path) -> None:
    plain = LexicalEmbedder()
    first = CachedEmbedder(plain, tmp_path / "vectors.db")
    computed = first.embed_passages(TEXTS)
    asked = first.embed_query("tea")
    first.close()
    again = CachedEmbedder(plain, tmp_path / "vectors.db")
    for one, other, fresh in zip(
        computed, again.embed_passages(TEXTS), plain.embed_passages(TEXTS), strict=True
    ):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(one, fresh)
    np.testing.assert_array_equal(asked, again.embed_query("tea"))
    assert first.computed == 4  # three different texts and a question
    assert again.computed == 0


def test_a_question_and_a_document_of_the_same_words_are_two_things(tmp_path: Path) -> None:
    cached = CachedEmbedder(LexicalEmbedder(), tmp_path / "vectors.db")
    cached.embed_documents(["tea"])
    cached.embed_query("tea")
    assert cached.computed == 2


def test_it_is_an_embedder_and_says_what_the_one_inside_says(tmp_path: Path) -> None:
    plain = LexicalEmbedder()
    cached = CachedEmbedder(plain, tmp_path / "vectors.db")
    assert isinstance(cached, Embedder)
    for name in ("name", "dimension", "max_tokens", "prompts", "similarity_threshold"):
        assert getattr(cached, name) == getattr(plain, name)
    assert cached.passages("tea") == plain.passages("tea")


def test_a_folder_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="embedding cache"):
        CachedEmbedder(LexicalEmbedder(), tmp_path / "none" / "vectors.db")


def test_a_full_disk_is_said_so_and_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    cached = CachedEmbedder(LexicalEmbedder(), tmp_path / "vectors.db")
    kept = cached.embed_query("tea")
    cached._file.execute("PRAGMA max_page_count = 1")
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match=r"cannot be used: database or disk is full"):
            cached.embed_documents([f"text {number}" for number in range(100)])
    cached._file.execute("PRAGMA max_page_count = 100000")
    np.testing.assert_array_equal(cached.embed_query("tea"), kept)
    assert len(cached.embed_documents([f"text {number}" for number in range(100)])) == 100


def test_a_file_that_is_something_else_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "vectors.db").write_bytes(b"not a database, by any means" * 100)
    with pytest.raises(StoreUnavailable, match="file is not a database"):
        CachedEmbedder(LexicalEmbedder(), tmp_path / "vectors.db")
