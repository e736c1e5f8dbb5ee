"""Whether a model that was made for some languages knows the letters of a text."""

from __future__ import annotations

import pytest

from memorata.text.language import familiarity


@pytest.mark.parametrize(
    ("text", "languages", "share"),
    [
        ("Where are my keys?", ("en",), 1.0),
        ("Wo sind meine Schlüssel?", ("en",), 1.0),
        ("我的钥匙在哪里", ("en",), 0.0),
        ("我的钥匙在哪里", ("en", "zh"), 1.0),
        ("Где мои ключи?", ("en",), 0.0),
        ("مفاتيحي أين", ("en",), 0.0),
        ("鍵はどこですか", ("ja",), 1.0),
        ("열쇠가 어디에 있나요", ("en",), 0.0),
        ("我的钥匙在哪里", (), 1.0),
        ("12:30 ?!", ("en",), 1.0),
        ("", ("en",), 1.0),
        ("የት ነው", ("en",), 0.0),
    ],
)
def test_familiarity(text: str, languages: tuple[str, ...], share: float) -> None:
    assert familiarity(text, languages) == share


def test_a_name_in_another_script_counts_by_what_it_says() -> None:
    assert 0 < familiarity("我的 iPhone 在哪里", ("en",)) < 0.5
    assert 0.5 < familiarity("Who wrote 骆驼祥子 and when was it published in Beijing?", ("en",)) < 1
