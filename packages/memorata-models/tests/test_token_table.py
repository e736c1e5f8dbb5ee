"""Tables of token vectors: of a static model, and of pieces with characters that none of them has."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np
import pytest

from memorata.embed.description import ModelDescription
from memorata.embed.token_table import MAX_DISTINCT
from memorata.model.errors import ModelCorrupt
from memorata_models.static import StaticEmbedder, installed_tables, token_table

PIECES = ["▁", "▁tea", "▁green", "茶", "绿茶"]


@pytest.fixture
def model(tmp_path: Path) -> ModelDescription:
    rows = io.BytesIO()
    np.save(rows, np.array([[0, 0], [1, 0], [0, 2], [1, 1], [3, 0]], np.float16))
    contents = {"pieces.txt": "\n".join(PIECES).encode(), "vectors.npy": rows.getvalue()}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    files = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    return ModelDescription(
        id="five", kind="pieces", dimension=2, max_tokens=32, pooling="mean", files=files, languages=("zh",)
    )


def test_a_character_that_no_piece_has_is_left_out(tmp_path: Path, model: ModelDescription) -> None:
    table = token_table(tmp_path, model).load()
    (tokens,) = table.tokens(["green tea 龘绿茶龘"])
    assert [table.text(int(token)) for token in tokens] == ["▁green", "▁tea", "绿茶"]
    np.testing.assert_allclose(np.linalg.norm(table.rows.take(tokens, axis=0), axis=1), 1)
    assert table.weights[0] == 0


def test_such_a_model_embeds(tmp_path: Path, model: ModelDescription) -> None:
    embedder = StaticEmbedder(tmp_path, description=model)
    assert embedder.embed_query("龘 tea").tolist() == [1.0, 0.0]
    assert embedder.embed_query("龘").tolist() == [0.0, 0.0]
    assert embedder.languages == ("zh",)


def test_many_tokens_are_cut(tmp_path: Path, model: ModelDescription) -> None:
    table = token_table(tmp_path, model).load()
    assert table.tokens(["tea " * 2 * MAX_DISTINCT])[0].size == 1


def test_a_damaged_file_is_refused(tmp_path: Path, model: ModelDescription) -> None:
    (tmp_path / "vectors.npy").write_bytes(b"no numbers")
    with pytest.raises(ModelCorrupt):
        token_table(tmp_path, model).load()


def test_no_folder_has_no_tables(tmp_path: Path) -> None:
    assert installed_tables(None) == ()
    assert installed_tables(tmp_path / "nowhere") == ()
