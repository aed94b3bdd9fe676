"""A worker's list of voices, as the public API gives it."""

import json
from typing import Any

import pytest
from rhapsode.voices import with_public_preview, with_public_previews
from rhapsode_contract import Internal


@pytest.mark.contract("7.preview.rewritten")
def test_only_the_previews_address_is_edited() -> None:
    voices: list[dict[str, Any]] = [
        {"id": "a_1", "label": "Ä", "spec": "x", "previewUrl": "/voices/a_1/preview", "new": [1]},
        {"id": "b", "label": "B", "spec": "y", "tags": []},
    ]
    public = json.loads(with_public_previews(json.dumps(voices).encode(), "my:engine"))
    assert public[0].pop("previewUrl") == "/engines/my%3Aengine/voices/a_1/preview"
    del voices[0]["previewUrl"]
    assert public == voices


def test_an_id_that_needs_quoting_is_quoted() -> None:
    listed = b'[{"id": "a/b", "previewUrl": "x"}]'
    assert json.loads(with_public_previews(listed, "e"))[0]["previewUrl"] == (
        "/engines/e/voices/a%2Fb/preview"
    )


NO_JSON = [b"nothing", b"\xff", b"[" * 200_000, b'[{"id":' * 60_000, b'[{"id":"\\ud800"}]', b"NaN"]


@pytest.mark.parametrize("body", [b"{}", b"[1]", b'["a"]', b"[[]]", *NO_JSON])
def test_what_is_no_list_of_voices_is_the_engines_fault(body: bytes) -> None:
    with pytest.raises(Internal, match="wrong shape"):
        with_public_previews(body, "e")


@pytest.mark.parametrize("body", [b"[]", b"1", *NO_JSON])
def test_what_is_no_voice_is_the_engines_fault(body: bytes) -> None:
    with pytest.raises(Internal, match="wrong shape"):
        with_public_preview(body, "e")
