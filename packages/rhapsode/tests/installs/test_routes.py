"""The routes of installing, of jobs and of the catalog."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from rhapsode.settings.entry import EngineEntry
from rhapsode_contract import CatalogEntry, InstallJob

from .box import VERSION, Served, downloads, serve_box

pytestmark = pytest.mark.anyio

LICENCE = "CC-BY-NC-4.0"


def error(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json()) == {"error"}
    return answer.status_code, answer.json()["error"]["code"]


async def over(served: Served, job_id: str) -> dict[str, Any]:
    await served.box.until_over(job_id)
    return (await served.http.get(f"/installs/{job_id}")).json()


async def catalog(served: Served) -> dict[str, dict[str, Any]]:
    return {entry["id"]: entry for entry in (await served.http.get("/catalog")).json()}


@pytest.mark.contract("10.install.accepted", "10.jobs.shape")
async def test_an_install_is_accepted_with_its_job_and_read_until_it_is_over(
    tmp_path: Path,
) -> None:
    async with serve_box(tmp_path) as served:
        answer = await served.http.post("/engines/tone/install")
        assert answer.status_code == 202
        job = answer.json()
        InstallJob.model_validate(job)
        assert {**job, "id": "", "createdAt": ""} == {
            "id": "",
            "engine": "tone",
            "kind": "install",
            "state": "queued",
            "createdAt": "",
        }
        ended = await over(served, job["id"])
        assert (ended["state"], ended["step"]) == ("succeeded", "register")
        assert job["createdAt"] <= ended["startedAt"] <= ended["finishedAt"]
        assert (await served.http.get("/installs")).json() == [ended]


@pytest.mark.contract("10.install.query")
async def test_a_query_that_is_empty_repeated_or_unknown_is_refused_before_there_is_a_job(
    tmp_path: Path,
) -> None:
    async with serve_box(tmp_path) as served:
        for query in (
            "pull=",
            "accept=",
            "pull",
            "pull=sine&pull=square",
            "pull=sine&pull=sine",
            "accept=Apache-2.0&accept=Apache-2.0",
            "variant=sine",
            "Pull=sine",
            "pull=sine&x=",
            "accept=true",
            "x" * 3000 + "=1",
        ):
            answer = await served.http.post(f"/engines/tone/install?{query}")
            assert error(answer) == (400, "bad_request"), query
            assert len(answer.json()["error"]["message"]) < 400
        assert (await served.http.get("/installs")).json() == []


@pytest.mark.contract("10.install.query")
async def test_what_other_routes_do_not_ask_for_is_refused(tmp_path: Path) -> None:
    async with serve_box(tmp_path) as served:
        await served.box.install()
        for method, path in (
            ("POST", "/engines/tone/reinstall?pull=sine"),
            ("POST", "/engines/tone/reinstall?accept="),
            ("POST", "/installs/outdated?engine=tone"),
            ("DELETE", "/engines/tone?weights=yes"),
            ("POST", "/engines/tone/pull?variant=sine"),
        ):
            assert error(await served.http.request(method, path)) == (400, "bad_request"), path
        assert len(served.box.jobs.newest_first()) == 1


@pytest.mark.contract("10.install.pull")
async def test_an_install_may_name_a_variant_and_a_licence(tmp_path: Path) -> None:
    async with serve_box(tmp_path) as served:
        served.box.roster.fetches = downloads
        asked = {"pull": "square", "accept": LICENCE}
        answer = await served.http.post("/engines/bound/install", params=asked)
        assert (answer.status_code, answer.json()["variant"]) == (202, "square")
        assert (await over(served, answer.json()["id"]))["step"] == "weights"


@pytest.mark.contract("10.accept.needed")
async def test_the_refusal_of_a_licence_names_the_query_that_is_then_taken(
    tmp_path: Path,
) -> None:
    async with serve_box(tmp_path) as served:
        answer = await served.http.post("/engines/bound/install")
        assert error(answer) == (400, "bad_request")
        assert f"?accept={LICENCE}" in answer.json()["error"]["message"]
        answer = await served.http.post(f"/engines/bound/install?accept={LICENCE}")
        assert answer.status_code == 202


@pytest.mark.contract(
    "10.install.conflict", "10.install.unknown", "10.install.no-database", "10.pull.unknown"
)
async def test_each_refusal_has_its_code(tmp_path: Path) -> None:
    mine = EngineEntry(command=("hum",))
    async with serve_box(tmp_path, config={"hum": mine}) as served:
        await served.box.install()
        post, delete = served.http.post, served.http.delete
        variant = {"variant": "sine"}
        for answer, expected in (
            (await post("/engines/tone/install"), (409, "conflict")),
            (await post("/engines/hum/install"), (409, "conflict")),
            (await post("/engines/nobody/install"), (404, "unknown_engine")),
            (await post("/engines/..%2F..%2Fetc/install"), (404, "unknown_engine")),
            (await post("/engines/whistle/reinstall"), (404, "unknown_engine")),
            (await post("/engines/hum/reinstall"), (409, "conflict")),
            (await delete("/engines/hum"), (409, "conflict")),
            (await delete("/engines/whistle"), (404, "unknown_engine")),
            (await post("/engines/whistle/pull", json=variant), (404, "unknown_engine")),
            (await post("/engines/tone/install?pull=x"), (409, "conflict")),
            (await post("/engines/whistle/install?pull=x"), (422, "unsupported")),
        ):
            assert error(answer) == expected
            assert answer.json()["error"]["retryable"] is False
    async with serve_box(tmp_path, has_database=False) as served:
        answer = await served.http.post("/engines/tone/install")
        assert error(answer) == (422, "unsupported")


@pytest.mark.contract("10.pull.job")
async def test_a_pull_that_is_malformed_is_refused_naming_what_is_wrong(tmp_path: Path) -> None:
    async with serve_box(tmp_path) as served:
        await served.box.install()
        for body, field in (
            ('{"variant": ""}', "variant"),
            ("{}", "variant"),
            ('{"variant": 7}', "variant"),
            ('{"variant": "sine", "engine": "x"}', "engine"),
            ("[]", "object"),
            ("", "JSON"),
        ):
            answer = await served.http.post(
                "/engines/tone/pull", content=body, headers={"content-type": "application/json"}
            )
            assert error(answer) == (400, "bad_request")
            assert field in answer.json()["error"]["message"]


@pytest.mark.contract("10.pull.job")
async def test_a_pull_is_accepted_with_its_job(tmp_path: Path) -> None:
    async with serve_box(tmp_path) as served:
        served.box.roster.fetches = downloads
        await served.box.install()
        answer = await served.http.post("/engines/tone/pull", json={"variant": "square"})
        job = answer.json()
        assert (answer.status_code, job["kind"], job["variant"]) == (202, "pull", "square")
        assert (await over(served, job["id"]))["state"] == "succeeded"


@pytest.mark.contract("10.reinstall.steps", "10.outdated.queues")
async def test_reinstalls_are_accepted_with_their_jobs(tmp_path: Path) -> None:
    async with serve_box(tmp_path) as served:
        assert (await served.http.post("/installs/outdated")).json() == {"jobs": [], "skipped": []}
        await served.box.install_old()
        answer = await served.http.post("/engines/tone/reinstall")
        assert (answer.status_code, answer.json()["kind"]) == (202, "reinstall")
        await over(served, answer.json()["id"])
        await served.box.install_old("hum")
        answer = await served.http.post("/installs/outdated")
        assert answer.status_code == 202
        assert [job["engine"] for job in answer.json()["jobs"]] == ["hum"]
        assert answer.json()["skipped"] == []
        assert (await over(served, answer.json()["jobs"][0]["id"]))["state"] == "succeeded"


@pytest.mark.contract("10.uninstall.removes")
async def test_a_delete_answers_once_the_engine_and_its_virtualenv_are_gone(
    tmp_path: Path,
) -> None:
    async with serve_box(tmp_path) as served:
        await served.box.install()
        answer = await served.http.delete("/engines/tone")
        assert (answer.status_code, answer.content) == (204, b"")
        assert served.box.lying_there == {}
        assert (await catalog(served))["tone"]["installed"] == "no"


@pytest.mark.contract("10.jobs.unknown")
async def test_a_job_that_nobody_knows_is_a_404(tmp_path: Path) -> None:
    async with serve_box(tmp_path) as served:
        for path in ("/installs/nope", "/installs/nope/events", "/installs/outdated"):
            assert error(await served.http.get(path)) == (404, "bad_request")


@pytest.mark.contract("10.jobs.newest-first", "10.jobs.one-at-a-time")
async def test_jobs_are_listed_newest_first_while_one_runs(tmp_path: Path) -> None:
    async with serve_box(tmp_path) as served:
        served.box.builder.hangs_at = "packages"
        for engine in ("tone", "hum", "whistle"):
            await served.http.post(f"/engines/{engine}/install")
        await served.box.builder.hangs.wait()
        jobs = (await served.http.get("/installs")).json()
        assert [(job["engine"], job["state"], job.get("step")) for job in jobs] == [
            ("whistle", "queued", None),
            ("hum", "queued", None),
            ("tone", "running", "packages"),
        ]
        served.box.builder.may_go_on.set()
        for job in jobs:
            await served.box.until_over(job["id"])


@pytest.mark.contract("10.jobs.conflict")
async def test_a_second_job_and_an_uninstall_are_conflicts_while_one_runs(
    tmp_path: Path,
) -> None:
    async with serve_box(tmp_path) as served:
        await served.box.install()
        served.box.builder.hangs_at = "packages"
        assert (await served.http.post("/engines/tone/reinstall")).status_code == 202
        await served.box.builder.hangs.wait()
        variant = {"variant": "sine"}
        for answer in (
            await served.http.post("/engines/tone/install"),
            await served.http.post("/engines/tone/reinstall"),
            await served.http.post("/engines/tone/pull", json=variant),
            await served.http.delete("/engines/tone"),
        ):
            assert error(answer) == (409, "conflict")
        served.box.builder.may_go_on.set()


@pytest.mark.contract("10.listing.shape", "10.listing.installed", "4.license.catalog")
async def test_the_catalog_lists_what_exists_with_both_licences_and_what_is_here(
    tmp_path: Path,
) -> None:
    mine = EngineEntry(command=("hum",), disabled=True)
    async with serve_box(tmp_path, config={"hum": mine}) as served:
        await served.box.install_old()
        served.box.builder.hangs_at = "venv"
        await served.http.post("/engines/whistle/install")
        entries = await catalog(served)
        assert [*entries] == ["bound", "hum", "tone", "whistle"]
        for entry in entries.values():
            CatalogEntry.model_validate(entry)
        assert entries["bound"] == {
            "id": "bound",
            "displayName": "Bound",
            "license": {
                "code": "MIT",
                "weights": "CC-BY-NC-4.0",
                "weightsCommercialUse": False,
            },
            "package": "rhapsode-engine-bound",
            "defaultVariant": "sine",
            "installed": "no",
            "managed": False,
        }
        here = {key: entries["tone"].get(key) for key in ("installed", "managed", "outdated")}
        assert here == {"installed": "yes", "managed": True, "outdated": True}
        assert entries["tone"]["workerVersion"] == "0.1.0"
        assert (entries["hum"]["installed"], entries["hum"]["managed"]) == ("yes", False)
        assert "workerVersion" not in entries["hum"]
        assert entries["whistle"]["installed"] == "installing"  # while it is queued
        await served.box.builder.hangs.wait()
        assert (await catalog(served))["whistle"]["installed"] == "installing"
        served.box.builder.may_go_on.set()
        await served.box.until_over(served.box.jobs.newest_first()[0].id)
        assert (await catalog(served))["whistle"]["installed"] == "yes"


@pytest.mark.contract("10.listing.installed")
async def test_an_engine_that_is_being_built_anew_is_installed_all_the_while(
    tmp_path: Path,
) -> None:
    async with serve_box(tmp_path) as served:
        await served.box.install_old()
        served.box.builder.hangs_at = "verify"
        await served.http.post("/engines/tone/reinstall")
        await served.box.builder.hangs.wait()
        entry = (await catalog(served))["tone"]
        assert (entry["installed"], entry["workerVersion"], entry["outdated"]) == (
            "yes",
            "0.1.0",
            True,
        )
        served.box.builder.may_go_on.set()
        await served.box.until_over(served.box.jobs.newest_first()[0].id)
        entry = (await catalog(served))["tone"]
        assert (entry["workerVersion"], entry["outdated"]) == (VERSION, False)


async def test_a_body_that_nobody_asked_for_is_not_read(tmp_path: Path) -> None:
    async with serve_box(tmp_path) as served:
        answer = await served.http.post("/engines/tone/install", content=b"not json at all")
        assert answer.status_code == 202
