"""Every language file holds known sections in known shapes, so that a misspelt key is no silent loss."""

import pytest

from memorata.lang import LANGUAGES, SHARED, languages_with

WORDS = {
    *("pronouns", "other_stop_words", "negations", "function_words", "familiar"),
    *("common", "endings", "subject_verbs", "verb_endings"),
}
CUES = {"habits", "factual", "preference", "conceptual", "neutral"}
STANDING = {"instruction", "preference", "profile", "unfinished", "cues"}
DATES = {"times_look_foreign", "words", "prepositions", "expressions", "phrases", "rules"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_known_sections_alone(language: str) -> None:
    file = LANGUAGES[language]
    assert file.keys() <= {"order", "code", "letters", "words", "query_cues", "standing", "dates"}
    known = {"words": WORDS, "query_cues": CUES, "standing": STANDING, "dates": DATES}
    assert all(file[section].keys() <= names for section, names in known.items() if section in file)
    assert all(isinstance(words, str) and words.split() for words in file.get("words", {}).values())


def test_languages_come_in_the_order_of_their_speakers() -> None:
    assert [file["order"] for file in LANGUAGES.values()] == list(range(1, len(LANGUAGES) + 1))
    assert languages_with("query_cues") == languages_with("words", "pronouns")
    assert languages_with("dates")[-3:] == ("chinese", "japanese", "korean")
    assert languages_with("nothing") == ()


def test_lists_over_all_languages_stand_apart() -> None:
    assert "shared" not in LANGUAGES
    assert SHARED.keys() == {"letters", "names", "passwords", "queries", "hosts", "dates", "query_times"}
