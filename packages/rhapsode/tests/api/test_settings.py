"""`GET /settings` and `PATCH /settings`, with a state database behind them."""

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from rhapsode_http import JSON_BODY_LIMIT_BYTES

from .settings_box import LISTED, LIVE, RESTART, SECRET, THERE, TONE, box, fields, remote

pytestmark = pytest.mark.anyio


# The document.


@pytest.mark.contract("10.settings.document", "10.settings.engines")
async def test_the_document_has_every_setting_with_its_value_source_and_time(
    tmp_path: Path,
) -> None:
    config = f'[server]\nport = 81\n[install]\npython = "3.12"\n{TONE}keepAliveSeconds = 9\n'
    with box(tmp_path, config + '[engines.off]\nvenv = "/v"\ndisabled = true\n') as core:
        document = await core.document()
    assert document["values"] == {
        "server": {"host": "::", "port": 81, "shutdownGraceMs": 20000},
        "log": {"level": "info"},
        "residency": {
            "maxResidentModels": 1,
            "evictionWaitSeconds": 30,
            "keepAliveSeconds": 300,
        },
        "workers": {
            "socketDir": str(tmp_path / "s"),
            "voiceDir": str(tmp_path / "d" / "voices"),
            "startupTimeoutSeconds": 60,
            "drainGraceMs": 10000,
            "maxRestarts": 5,
            "restartDecaySeconds": 300,
        },
        "install": {"venvDir": str(tmp_path / "d" / "venvs"), "python": "3.12"},
        "management": {"tokenSet": False, "origins": []},
        "update": {"check": True},
        "engines": {"tone": {"keepAliveSeconds": 9}},
    }
    told = fields(document)
    engine_key = "engines.tone.keepAliveSeconds"
    assert {key for key in told if told[key]["applies"] == "live"} == {*LIVE, engine_key}
    assert {key for key in told if told[key]["applies"] == "restart"} == RESTART
    assert {key for key in told if told[key]["source"] == "config"} == {
        "server.port",
        "install.python",
        engine_key,
    }
    assert {one["source"] for one in told.values()} == {"config", "default"}
    assert not any("saved" in one for one in told.values())


@pytest.mark.contract("10.settings.layers")
async def test_the_database_wins_over_the_file_and_clearing_falls_back_to_it(
    tmp_path: Path,
) -> None:
    with box(tmp_path, "[residency]\nkeepAliveSeconds = 5\n") as core:
        after = await core.patch(residency={"keepAliveSeconds": 7, "evictionWaitSeconds": 1})
        assert after["values"]["residency"]["keepAliveSeconds"] == 7
        told = fields(after)
        assert told["residency.keepAliveSeconds"]["source"] == "database"
        assert told["residency.evictionWaitSeconds"]["source"] == "database"
        after = await core.patch(residency={"keepAliveSeconds": None, "evictionWaitSeconds": None})
        assert after["values"]["residency"]["keepAliveSeconds"] == 5
        assert after["values"]["residency"]["evictionWaitSeconds"] == 30
        told = fields(after)
        assert told["residency.keepAliveSeconds"]["source"] == "config"
        assert told["residency.evictionWaitSeconds"]["source"] == "default"


@pytest.mark.contract("10.settings.waiting", "10.settings.saved")
async def test_what_waits_for_a_restart_is_shown_beside_what_is_in_use(tmp_path: Path) -> None:
    config = "[server]\nport = 81\n"
    with box(tmp_path, config) as core:
        after = await core.patch(server={"port": 9090, "host": "::"}, log={"level": "debug"})
        assert after["values"]["server"]["port"] == 81
        assert after["values"]["log"]["level"] == "info"
        told = fields(after)
        wants = {"key": "server.port", "source": "config", "applies": "restart", "saved": 9090}
        assert told["server.port"] == wants
        assert told["log.level"]["saved"] == "debug"
        # The database has it, and it is in use.
        assert told["server.host"]["source"] == "database"
        assert "saved" not in told["server.host"]
        assert await core.document() == after
    with box(tmp_path, config) as core:
        told = fields(await core.document())
        assert told["server.port"] == {
            "key": "server.port",
            "source": "database",
            "applies": "restart",
        }
        # What is in use came from there, though nothing is there any more.
        after = await core.patch(server={"port": None})
        assert after["values"]["server"]["port"] == 9090
        assert fields(after)["server.port"] == told["server.port"]
    with box(tmp_path, config) as core:
        assert (await core.document())["values"]["server"]["port"] == 81


@pytest.mark.contract("10.settings.token-hidden")
async def test_the_token_is_never_in_an_answer(tmp_path: Path) -> None:
    new = "n3w-token"
    with box(tmp_path, LISTED) as core:
        answer = await core.ask("PATCH", json={"management": {"token": new}})
        text = answer.text + (await core.ask("GET")).text
        assert answer.json()["values"]["management"]["tokenSet"] is True
        assert fields(answer.json())["management.token"]["saved"] is True
        assert new not in text and SECRET not in text
        assert "management.tokenSet" not in fields(answer.json())
        for bad in ([new], "new\n" + new, f" {new}", 7):
            _, code, message = await core.refused({"management": {"token": bad}})
            assert code == "bad_request"
            assert new not in message and "management.token" in message
        assert core.state is not None
        assert core.state.settings() == {"management.token": new}
    with box(tmp_path, LISTED) as core:
        shown = await core.ask("GET", THERE, headers={"Authorization": f"Bearer {new}"})
        assert fields(shown.json())["management.token"] == {
            "key": "management.token",
            "source": "database",
            "applies": "restart",
        }
        assert new not in shown.text
        assert new not in repr(core.live.current)


@pytest.mark.contract("10.settings.token-hidden")
async def test_an_empty_token_is_none_and_overrides_the_files(tmp_path: Path) -> None:
    with box(tmp_path, LISTED) as core:
        await core.patch(management={"token": ""})
    with box(tmp_path, LISTED) as core:
        document = await core.document()
        assert document["values"]["management"]["tokenSet"] is False
        assert (await core.ask("GET", THERE, headers=remote())).status_code == 403


@pytest.mark.contract("10.settings.token-hidden")
async def test_token_set_is_only_read(tmp_path: Path) -> None:
    with box(tmp_path, LISTED) as core:
        status, code, message = await core.refused({"management": {"tokenSet": False}})
        assert (status, code) == (400, "bad_request")
        assert "management.token " in message


# A patch.


@pytest.mark.contract("10.settings.coerced")
async def test_numbers_and_booleans_may_be_strings(tmp_path: Path) -> None:
    with box(tmp_path) as core:
        after = await core.patch(
            server={"port": "8081"},
            residency={"keepAliveSeconds": "-1", "evictionWaitSeconds": "2.5"},
            update={"check": "false"},
        )
        assert fields(after)["server.port"]["saved"] == 8081
        assert after["values"]["residency"]["keepAliveSeconds"] == -1
        assert after["values"]["residency"]["evictionWaitSeconds"] == 2.5
        assert after["values"]["update"] == {"check": False}
        assert core.state is not None
        assert core.state.settings()["server.port"] == 8081


@pytest.mark.contract("10.settings.arrays")
async def test_an_array_replaces_the_one_below_it(tmp_path: Path) -> None:
    with box(tmp_path, LISTED) as core:
        after = await core.patch(management={"origins": ["HTTPS://New.Example:443"]})
        assert fields(after)["management.origins"]["saved"] == ["https://new.example"]
        await core.patch(management={"origins": []})
    with box(tmp_path, LISTED) as core:
        assert (await core.document())["values"]["management"]["origins"] == []


@pytest.mark.contract("10.settings.folders")
async def test_a_folder_is_relative_to_the_config(tmp_path: Path) -> None:
    with box(tmp_path) as core:
        after = await core.patch(workers={"voiceDir": "voices"}, install={"venvDir": "~/venvs"})
        told = fields(after)
        assert told["workers.voiceDir"]["saved"] == str(tmp_path / "voices")
        assert told["install.venvDir"]["saved"] == str(Path.home() / "venvs")
        assert core.state is not None
        core.state.write_settings({"workers.voiceDir": "by-hand"})
    with box(tmp_path) as core:
        assert core.live.current.workers.voice_dir == tmp_path / "by-hand"
        assert "saved" not in fields(await core.document())["workers.voiceDir"]


@pytest.mark.contract("10.settings.live")
async def test_five_settings_apply_at_once_and_those_who_watch_are_told(tmp_path: Path) -> None:
    with box(tmp_path, TONE) as core:
        seen: list[Any] = []
        core.live.watch(lambda: seen.append(core.live.current.residency.keep_alive_seconds))
        await core.patch(
            residency={"maxResidentModels": 3, "evictionWaitSeconds": 4, "keepAliveSeconds": 5},
            update={"check": False},
            engines={"tone": {"keepAliveSeconds": 6}},
        )
        current = core.live.current
        assert current.residency.model_dump() == {
            "max_resident_models": 3,
            "eviction_wait_seconds": 4,
            "keep_alive_seconds": 5,
        }
        assert current.update.check is False
        assert core.live.keep_alive_of("tone") == 6
        assert seen == [5]


@pytest.mark.contract("10.settings.engines")
async def test_an_engines_own_setting_is_set_and_cleared(tmp_path: Path) -> None:
    key = "engines.tone.keepAliveSeconds"
    with box(tmp_path, f'{TONE}keepAliveSeconds = 9\n[engines."a.b"]\nvenv = "/v"\n') as core:
        after = await core.patch(engines={"tone": {"keepAliveSeconds": 0}})
        assert after["values"]["engines"] == {"tone": {"keepAliveSeconds": 0}, "a.b": {}}
        assert fields(after)[key] == {"key": key, "source": "database", "applies": "live"}
        await core.patch(engines={"a.b": {"keepAliveSeconds": -1}})
    with box(tmp_path, f'{TONE}keepAliveSeconds = 9\n[engines."a.b"]\nvenv = "/v"\n') as core:
        assert core.live.keep_alive_of("tone") == 0
        assert core.live.keep_alive_of("a.b") == -1
        after = await core.patch(engines={"tone": {"keepAliveSeconds": None}})
        assert core.live.keep_alive_of("tone") == 9
        assert fields(after)[key]["source"] == "config"


@pytest.mark.contract("10.settings.engine-entry")
async def test_an_engine_of_the_database_is_laid_under_the_files(tmp_path: Path) -> None:
    with box(tmp_path, TONE) as core:
        assert core.state is not None
        core.state.record_engine("tone", {"venv": "/theirs", "keepAliveSeconds": 3})
        core.state.record_engine("piper", {"venv": "/v/piper", "keepAliveSeconds": 4})
    with box(tmp_path, TONE) as core:
        engines = core.live.current.engines
        assert (engines["tone"].venv, engines["piper"].venv) == (Path("/v/tone"), Path("/v/piper"))
        document = await core.document()
        assert document["values"]["engines"] == {"piper": {"keepAliveSeconds": 4}, "tone": {}}
        assert fields(document)["engines.piper.keepAliveSeconds"]["source"] == "database"
        after = await core.patch(engines={"piper": {"keepAliveSeconds": None}})
        assert after["values"]["engines"]["piper"] == {}
    with box(tmp_path, TONE) as core:
        assert core.live.keep_alive_of("piper") is None


async def test_settings_of_an_engine_that_is_gone_disturb_nobody(tmp_path: Path) -> None:
    with box(tmp_path, TONE) as core:
        await core.patch(engines={"tone": {"keepAliveSeconds": 6}})
        assert core.state is not None
        core.state.write_settings({"server.from-tomorrow": 1})
    with box(tmp_path) as core:
        assert (await core.document())["values"]["engines"] == {}


async def test_an_empty_patch_changes_nothing_and_shows_everything(tmp_path: Path) -> None:
    with box(tmp_path) as core:
        assert await core.patch() == await core.patch(server={}) == await core.document()


async def test_patches_at_once_are_made_one_after_the_other(tmp_path: Path) -> None:
    with box(tmp_path) as core:
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                for n in range(20):
                    residency, server = {"keepAliveSeconds": n}, {"port": n + 1}
                    tasks.start_soon(partial(core.patch, residency=residency, server=server))
        assert core.state is not None
        saved = core.state.settings()
        assert saved["server.port"] == saved["residency.keepAliveSeconds"] + 1
        assert core.live.current.residency.keep_alive_seconds == saved["residency.keepAliveSeconds"]


# Refusals.


@pytest.mark.contract("10.settings.atomic", "10.settings.ranges", "10.settings.unknown-key")
async def test_a_patch_of_which_a_part_is_refused_changes_nothing(tmp_path: Path) -> None:
    allowed = {"update": {"check": False}, "engines": {"tone": {"keepAliveSeconds": 1}}}
    with box(tmp_path, TONE) as core:
        for part, key in (
            ({"server": {"port": 0}}, "server.port"),
            ({"residency": {"keepAliveSeconds": -2}}, "residency.keepAliveSeconds"),
            ({"residency": {"keepAliveSecs": 2}}, "residency.keepAliveSecs"),
            ({"sever": {"port": 2}}, "sever"),
        ):
            status, code, message = await core.refused({**allowed, **part})
            assert (status, code) == (400, "bad_request")
            assert message.startswith(f"{key}: ")


@pytest.mark.contract("10.settings.engines")
async def test_a_setting_of_an_engine_that_is_not_here_is_unknown_engine(tmp_path: Path) -> None:
    with box(tmp_path, f'{TONE}[engines.off]\nvenv = "/v"\ndisabled = true\n') as core:
        for engine in ("piper", "off", "tone.keepAliveSeconds"):
            body = {"engines": {engine: {"keepAliveSeconds": 1}}}
            assert (await core.refused(body))[:2] == (404, "unknown_engine")


@pytest.mark.contract("10.settings.no-database")
async def test_without_a_database_settings_are_shown_and_not_changed(tmp_path: Path) -> None:
    with box(tmp_path, TONE, has_state=False) as core:
        answer = await core.ask("PATCH", json={"residency": {"keepAliveSeconds": 1}})
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "unsupported")
        assert (await core.document())["values"]["residency"]["keepAliveSeconds"] == 300


@pytest.mark.contract("10.settings.body")
async def test_a_body_is_json_and_of_the_usual_length(tmp_path: Path) -> None:
    body = json.dumps({"residency": {"keepAliveSeconds": 1}})
    form = {"Content-Type": "text/plain"}
    much = json.dumps({"server": {"host": "x" * JSON_BODY_LIMIT_BYTES}})
    usual = {"Content-Type": "application/json"}
    with box(tmp_path) as core:
        for text, headers in ((body, form), (body, {}), (much, usual), ("{", usual), ("[]", usual)):
            answer = await core.ask("PATCH", content=text, headers=headers)
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
        assert core.state is not None
        assert core.state.settings() == {}
        assert (await core.ask("PUT", json={})).status_code == 405


@pytest.mark.contract("10.settings.unwritable")
async def test_a_write_that_fails_changes_nothing_in_use_either(tmp_path: Path) -> None:
    with box(tmp_path) as core:
        (tmp_path / "rhapsode.db").rename(tmp_path / "away")
        body = {"residency": {"keepAliveSeconds": 1}}
        status, code, message = await core.refused(body)
        assert (status, code) == (500, "internal")
        assert "rhapsode.db" in message
        (tmp_path / "away").rename(tmp_path / "rhapsode.db")
        after = await core.patch(residency={"keepAliveSeconds": 1})
        assert after["values"]["residency"]["keepAliveSeconds"] == 1


def nested(key: str, value: object) -> dict[str, Any]:
    section, name = key.split(".")
    return {section: {name: value}}


@pytest.mark.contract("10.settings.startable")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("workers.socketDir", "file"),
        ("workers.socketDir", "/proc/x"),
        ("workers.socketDir", "/" + "s" * 150),
        ("workers.voiceDir", "file"),
        ("workers.voiceDir", "file/below"),
        ("workers.voiceDir", "dangling"),
        ("workers.voiceDir", "/proc/x"),
        ("workers.voiceDir", "v" * 300),
        ("install.venvDir", "file"),
        ("install.venvDir", "/proc/x"),
        ("server.host", "203.0.113.7"),
        ("server.host", "no-such-host.invalid"),
    ],
)
async def test_what_no_start_would_take_is_refused_before_it_is_saved(
    tmp_path: Path, key: str, value: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere/at-all")
    with box(tmp_path) as core:
        body = nested(key, value) | {"residency": {"keepAliveSeconds": 1}}
        status, code, message = await core.refused(body)
    assert (status, code) == (400, "bad_request")
    assert message.startswith(f"{key}: ")
    assert "\n" not in message


@pytest.mark.contract("10.settings.startable")
async def test_looking_at_folders_leaves_nothing_behind(tmp_path: Path, short_path: Path) -> None:
    new = short_path / "a" / "b"
    with box(tmp_path) as core:
        for key in ("workers.socketDir", "workers.voiceDir", "install.venvDir"):
            await core.patch(**nested(key, str(new)))
            assert os.listdir(short_path) == []


@pytest.mark.contract("10.settings.startable")
async def test_a_sockets_path_is_measured_with_the_engines_that_have_one(
    tmp_path: Path, short_path: Path
) -> None:
    largest_pid = "4194304" if sys.platform == "linux" else "99999"
    room = 103 - len(f"{short_path}//core-{largest_pid}-12345678/e.sock")
    body = nested("workers.socketDir", str(short_path / ("s" * room)))
    long = "e" * 20
    with box(tmp_path, f'[engines.{long}]\nurl = "http://box:1"\n') as core:
        await core.patch(**body)
        longer = nested("workers.socketDir", str(short_path / ("s" * (room + 1))))
        assert (await core.refused(longer))[1] == "bad_request"
    with box(tmp_path, f'[engines.{long}]\nvenv = "/v"\n') as core:
        _, code, message = await core.refused(body)
        assert (code, long in message) == ("bad_request", True)


@pytest.mark.contract("10.settings.ignore-saved")
async def test_what_is_set_aside_is_not_used_and_shown_until_it_is_cleared(tmp_path: Path) -> None:
    restart, live, own = (
        "server.port",
        "residency.keepAliveSeconds",
        "engines.tone.keepAliveSeconds",
    )
    config = f"[server]\nport = 81\n{TONE}"
    with box(tmp_path, config) as core:
        await core.patch(server={"port": 82}, engines={"tone": {"keepAliveSeconds": 6}})
        await core.patch(residency={"keepAliveSeconds": 7}, log={"level": "info"})
        assert core.state is not None
        core.state.write_settings({"workers.maxRestarts": -1})  # a core of another version
    with box(tmp_path, config, ignores_saved=True) as core:
        document = await core.document()
        values, told = document["values"], fields(document)
        assert (values["server"]["port"], told[restart]["source"]) == (81, "config")
        assert (values["residency"]["keepAliveSeconds"], core.live.keep_alive_of("tone")) == (
            300,
            None,
        )
        assert [told[key]["saved"] for key in (restart, live, own)] == [82, 7, 6]
        assert told["log.level"] == {"key": "log.level", "source": "database", "applies": "restart"}
        core.live.forget("tone")  # and with it what is saved of its own
        assert set(core.live.set_aside) == {restart, live, "log.level"}
        # Another change applies what it holds, and no more.
        after = await core.patch(residency={"evictionWaitSeconds": 1})
        assert after["values"]["residency"]["keepAliveSeconds"] == 300
        after = await core.patch(
            server={"port": None},
            residency={"keepAliveSeconds": None},
            workers={"maxRestarts": None},
        )
        assert not any("saved" in one for one in fields(after).values())
    with box(tmp_path, config) as core:
        document = await core.document()
        assert document["values"]["server"]["port"] == 81
