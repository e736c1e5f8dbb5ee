"""The files of a folder: every one once, in order, and no hidden ones."""

from pathlib import Path

from memorata.service.files import files_of


def test_files_come_in_order_with_the_names_they_have_in_the_folder(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.md", "a/c/d.txt", ".git/config", "a/.hidden"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "a" / "round").symlink_to(tmp_path)
    assert [(name, path) for name, path in files_of(tmp_path)] == [
        ("a/c/d.txt", tmp_path / "a/c/d.txt"),
        ("a/z.md", tmp_path / "a/z.md"),
        ("b.md", tmp_path / "b.md"),
    ]
