"""Multipart forms, cut into their parts."""

from hypothesis import given
from hypothesis import strategies as st
from rhapsode_contract import BadRequest
from rhapsode_worker.voicing.form import Form, PartData

from .uploading import MULTIPART, WHOLE


@given(st.binary(max_size=300) | st.binary(max_size=200).map(lambda tail: WHOLE[:120] + tail))
def test_any_bytes_are_a_form_or_refused(body: bytes) -> None:
    form = Form(MULTIPART)
    try:
        for start in range(0, len(body), 50):
            list(form.feed(body[start : start + 50]))
        form.finish()
    except BadRequest as refusal:
        assert len(refusal.message) < 300


@given(st.text(max_size=200) | st.text(max_size=60).map(lambda tail: "multipart/form-data;" + tail))
def test_any_content_type_is_a_forms_or_refused(content_type: str) -> None:
    headers = content_type.encode("latin-1", errors="replace").decode("latin-1")
    try:
        Form(headers)
    except BadRequest as refusal:
        assert len(refusal.message) < 300


def test_a_form_gives_what_came_as_it_came() -> None:
    form = Form(MULTIPART)
    data = b"".join(
        event.data
        for start in range(len(WHOLE))
        for event in form.feed(WHOLE[start : start + 1])
        if isinstance(event, PartData)
    )
    form.finish()
    assert data == b"n" + b"sound" * 100
