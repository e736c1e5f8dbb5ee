import subprocess
import sys

import pytest

import memorata.embed


def test_every_public_name_is_there() -> None:
    for name in memorata.embed.__all__:
        assert getattr(memorata.embed, name).__name__ == name or name == "Vectors"


def test_a_name_that_is_not_there_is_not_invented() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Torch'"):
        memorata.embed.Torch  # noqa: B018


@pytest.mark.parametrize(
    "statement",
    [
        "import memorata.embed",
        "from memorata.embed import open_embedder; open_embedder('builtin').name",
        "import memorata_models.install",
    ],
)
def test_no_runtime_is_loaded_before_a_text_is_embedded(statement: str) -> None:
    program = (
        f"{statement}; import sys; print(sorted({{'onnxruntime', 'tokenizers', 'onnx'}} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_importing_the_package_loads_no_network_code() -> None:
    loaded = []
    for package in ("numpy", "memorata.embed"):
        program = (
            f"import {package}, sys; print({{'http.client', 'urllib.request', 'ssl'}} & set(sys.modules))"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        loaded.append(done.stdout)
    assert loaded[0] == loaded[1]
