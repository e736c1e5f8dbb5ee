"""Saved settings: versions, of which the last that was not withdrawn is in force."""

from datetime import UTC, datetime

from memorata.store.store import Store

_NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
_HERE, _THERE = "acme/alice", "acme/bob"


def test_the_last_version_that_was_not_withdrawn_is_in_force(store: Store) -> None:
    """Check versions, kinds, names and namespaces."""
    first = store.saved_settings.save(_HERE, "recipe", "mine", {"b": 1}, {"gain": 0.1}, _NOW)
    second = store.saved_settings.save(_HERE, "recipe", "mine", {"b": 2}, {}, _NOW)
    other = store.saved_settings.save(_HERE, "recipe", "other", {}, {}, _NOW)
    store.saved_settings.save(_HERE, "calibration", "mine", {}, {}, _NOW)
    assert store.saved_settings.list(_HERE, "recipe") == [other, second, first]
    assert store.saved_settings.list(_HERE, "recipe", "mine") == [second, first]
    assert store.saved_settings.list(_THERE, "recipe") == []
    assert not store.saved_settings.withdraw(_THERE, second.number, _NOW)
    assert store.saved_settings.withdraw(_HERE, second.number, _NOW)
    assert not store.saved_settings.withdraw(_HERE, second.number, _NOW)
    assert store.saved_settings.list(_HERE, "recipe", "mine") == [first]
    ended = store.saved_settings.list(_HERE, "recipe", "mine", withdrawn=True)[0]
    assert (ended.number, ended.withdrawn_at, ended.data) == (second.number, _NOW, {"b": 2})


def test_all_versions_of_one_setting_are_withdrawn_together(store: Store) -> None:
    settings = store.saved_settings
    for kind, name in (("recipe", "mine"), ("recipe", "mine"), ("recipe", "other"), ("link", "mine")):
        settings.save(_HERE, kind, name, {}, {}, _NOW)
    assert not settings.withdraw_all(_THERE, "recipe", "mine", _NOW)
    assert settings.withdraw_all(_HERE, "recipe", "mine", _NOW)
    assert not settings.withdraw_all(_HERE, "recipe", "mine", _NOW)
    assert [each.name for each in settings.list(_HERE, "recipe")] == ["other"]
    assert [each.name for each in settings.list(_HERE, "link")] == ["mine"]
