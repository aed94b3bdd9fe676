"""Who may read and change settings, and what would lock them out."""

from pathlib import Path

import pytest

from .settings_box import HERE, LISTED, PAGE, THERE, box, remote

pytestmark = pytest.mark.anyio


@pytest.mark.contract("10.settings.guarded")
@pytest.mark.parametrize("method", ["GET", "PATCH"])
async def test_a_stranger_neither_reads_nor_writes(tmp_path: Path, method: str) -> None:
    with box(tmp_path, LISTED) as core:
        assert (await core.ask(method, THERE, json={})).status_code == 403
        assert (await core.ask(method, THERE, json={}, headers=remote())).status_code == 200


@pytest.mark.contract("10.settings.keeps-token")
@pytest.mark.parametrize("token", [None, ""])
async def test_only_a_local_caller_may_clear_the_token(tmp_path: Path, token: str | None) -> None:
    body = {"management": {"token": token}, "residency": {"keepAliveSeconds": 1}}
    with box(tmp_path, LISTED) as core:
        status, code, message = await core.refused(body, THERE, remote())
        assert (status, code) == (409, "conflict")
        assert "management.token" in message
        # Through a proxy of this machine nobody is local either.
        proxied = remote(**{"X-Forwarded-For": THERE})
        assert (await core.refused(body, HERE, proxied))[:2] == (409, "conflict")
        await core.patch(THERE, remote(), management={"token": "another"})
        await core.patch(management={"token": token})


@pytest.mark.contract("10.settings.keeps-origin")
async def test_a_page_may_not_leave_its_own_origin_out(tmp_path: Path) -> None:
    page = {"Origin": PAGE}
    others = {"management": {"origins": ["https://other.example"]}}
    with box(tmp_path, LISTED) as core:
        for peer, headers in ((HERE, page), (THERE, remote(**page))):
            status, code, message = await core.refused(others, peer, headers)
            assert (status, code) == (409, "conflict")
            assert "management.origins" in message
            assert (await core.refused({"management": {"origins": []}}, peer, headers))[0] == 409
        # It stays, be it because it is in the list or because the file has it.
        await core.patch(HERE, page, management={"origins": ["https://PAGE.example"]})
        await core.patch(HERE, page, management={"origins": None})
        await core.patch(HERE, page, residency={"keepAliveSeconds": 1})


@pytest.mark.contract("10.settings.keeps-origin")
async def test_a_page_may_not_clear_the_list_that_alone_has_it(tmp_path: Path) -> None:
    with box(tmp_path) as core:
        await core.patch(management={"origins": [PAGE]})
    with box(tmp_path) as core:
        clear = {"origins": None}
        refused = await core.refused({"management": clear}, HERE, {"Origin": PAGE})
        assert refused[:2] == (409, "conflict")
        await core.patch(management=clear)


@pytest.mark.contract("10.settings.keeps-origin")
@pytest.mark.parametrize("headers", [{}, {"Origin": "http://localhost:5173"}])
async def test_a_caller_on_this_machine_is_never_locked_out(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    with box(tmp_path, LISTED) as core:
        await core.patch(HERE, headers, management={"origins": [], "token": ""})


async def test_without_a_guard_nobody_is_local(tmp_path: Path) -> None:
    with box(tmp_path, LISTED) as core:
        core.app = core.app._app  # pyright: ignore[reportPrivateUsage] - what stands behind it
        status, _, _ = await core.refused({"management": {"token": None}})
        assert status == 409
