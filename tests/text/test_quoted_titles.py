import pytest

from memorata.text.quoted_titles import quoted_titles


def found(text: str) -> list[str]:
    return [text[start:end] for start, end in quoted_titles(text)]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('read "War and Peace" now', "War and Peace"),
        ("les «Trois Mousquetaires»", "Trois Mousquetaires"),
        ("das Lied „Alle Vögel“", "Alle Vögel"),
        ("看了「進撃の巨人」", "進撃の巨人"),
        ("读《红楼梦》", "红楼梦"),
        ("«שלום»", "שלום"),
        ("«ვეფხი»", "ვეფხი"),
        ("「ﺏﺏ」", "ﺏﺏ"),
        ("「豈豈」", "豈豈"),
    ],
)
def test_titles(text: str, title: str) -> None:
    assert found(text) == [title]


@pytest.mark.parametrize(
    "text",
    [
        'she said "Come in."',
        'the "best" one',
        'a "Very interesting Day"',
        "他说「我不去了，谢谢」",
        '""',
        '"  "',
        "«тест»",
        "「ｆｆ」",
    ],
)
def test_what_people_say_is_no_title(text: str) -> None:
    assert found(text) == []
