"""A model hub's URLs and variables."""

from pathlib import Path

import pytest
from rhapsode_contract import ModelUnavailable
from rhapsode_worker.weights import HubFile, ReleaseFile

from .site import Site, redirect_to, refuse, serving
from .stock import declared, noise, weights_of

CONTENT = noise(10_000)
SOURCE = HubFile("owner/a name", "refs/pr/1", "onnx/model 1.onnx")
PATH = "/owner/a%20name/resolve/refs%2Fpr%2F1/onnx/model%201.onnx"


def test_the_file_is_at_the_hubs_resolve_url(site: Site, tmp_path: Path) -> None:
    site.files[PATH] = CONTENT
    file = declared("a", CONTENT, SOURCE)
    environ = {"HF_ENDPOINT": site.address + "/", "HF_TOKEN": "", "HF_HUB_OFFLINE": "0"}
    weights_of(tmp_path, file, environ=environ).fetch()
    assert "Authorization" not in site.seen[0].headers


def test_the_token_goes_to_the_hub_and_to_nobody_else(site: Site, tmp_path: Path) -> None:
    with serving() as store:
        store.files["/blob"] = CONTENT
        site.always(PATH, redirect_to("/renamed"))
        site.always("/renamed", redirect_to(store.url("/blob")))
        environ = {"HF_ENDPOINT": site.address, "HF_TOKEN": " secret\n", "HF_HUB_OFFLINE": ""}
        weights_of(tmp_path, declared("a", CONTENT, SOURCE), environ=environ).fetch()
        assert [seen.headers.get("Authorization") for seen in site.seen] == ["Bearer secret"] * 2
        assert "Authorization" not in store.seen[0].headers


def test_a_gated_file_says_whether_a_token_was_given(site: Site, tmp_path: Path) -> None:
    site.always(PATH, refuse(403))
    for token, said in (("", "no token was given"), ("secret", "a token was given")):
        environ = {"HF_ENDPOINT": site.address, "HF_TOKEN": token, "HF_HUB_OFFLINE": ""}
        with pytest.raises(ModelUnavailable, match=said) as caught:
            weights_of(tmp_path, declared("a", CONTENT, SOURCE), environ=environ).fetch()
        assert "secret" not in caught.value.message


def test_offline_leaves_the_hub_alone_and_takes_the_next_source(site: Site, tmp_path: Path) -> None:
    site.files["/a"] = CONTENT
    file = declared("a", CONTENT, SOURCE, ReleaseFile(site.url("/a")))
    environ = {"HF_ENDPOINT": site.address, "HF_HUB_OFFLINE": "true"}
    weights_of(tmp_path, file, environ=environ).fetch()
    assert [seen.path for seen in site.seen] == ["/a"]


def test_an_endpoint_that_is_no_url_is_named(tmp_path: Path) -> None:
    environ = {"HF_ENDPOINT": "file:///etc", "HF_HUB_OFFLINE": ""}
    with pytest.raises(ModelUnavailable, match="HF_ENDPOINT"):
        weights_of(tmp_path, declared("a", CONTENT, SOURCE), environ=environ).fetch()
