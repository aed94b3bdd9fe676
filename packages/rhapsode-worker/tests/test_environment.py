"""The variables of a worker: what they mean, and what stops a start."""

from pathlib import Path

import pytest
from rhapsode_http import TcpAddress, UnixAddress
from rhapsode_worker.environment import HopelessStart, WorkerEnvironment


def test_without_any_variable_it_serves_on_a_free_loopback_port() -> None:
    environment = WorkerEnvironment.read({})
    assert environment.listen == TcpAddress("127.0.0.1", 0)
    assert (environment.engine, environment.offer, environment.has_lifeline) == (None, 1, False)


def test_what_the_core_says_is_read() -> None:
    environment = WorkerEnvironment.read(
        {
            "RHAPSODE_WORKER_LISTEN": "unix:/run/r/tone.sock",
            "RHAPSODE_WORKER_ENGINE": "tone",
            "RHAPSODE_WORKER_CONTRACT": "7",
            "RHAPSODE_VOICE_DIR": "/voices/tone",
            "RHAPSODE_WORKER_LIFELINE": "stdin",
        }
    )
    assert environment.listen == UnixAddress(Path("/run/r/tone.sock"))
    assert (environment.engine, environment.offer) == ("tone", 7)
    assert environment.voice_dir_for("tone") == Path("/voices/tone")
    assert environment.has_lifeline


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RHAPSODE_WORKER_LISTEN", ""),
        ("RHAPSODE_WORKER_LISTEN", "tone.sock"),
        ("RHAPSODE_WORKER_LISTEN", "unix:relative.sock"),
        ("RHAPSODE_WORKER_LISTEN", "tcp:127.0.0.1"),
        ("RHAPSODE_WORKER_LISTEN", "tcp:127.0.0.1:http"),
        ("RHAPSODE_WORKER_LISTEN", "tcp:127.0.0.1:65536"),
        ("RHAPSODE_WORKER_CONTRACT", ""),
        ("RHAPSODE_WORKER_CONTRACT", "one"),
        ("RHAPSODE_WORKER_CONTRACT", "-1"),
        ("RHAPSODE_WORKER_CONTRACT", "1.0"),
        ("RHAPSODE_WORKER_CONTRACT", "\u0661"),
        ("RHAPSODE_WORKER_CONTRACT", "1" * 10),
        ("RHAPSODE_WORKER_LIFELINE", "fd:3"),
    ],
)
def test_a_variable_that_makes_no_sense_is_named(name: str, value: str) -> None:
    with pytest.raises(HopelessStart, match=name):
        WorkerEnvironment.read({name: value})


def test_an_adapter_of_another_id_than_asked_for_is_refused_naming_both() -> None:
    environment = WorkerEnvironment.read({"RHAPSODE_WORKER_ENGINE": "kokoro"})
    environment.check_engine("kokoro")
    with pytest.raises(HopelessStart, match=r"'kokoro'.*'tone'"):
        environment.check_engine("tone")


@pytest.mark.parametrize("engine_id", ["", "a/b", "..", "-x", "é", "a b", "x" * 65, "x\n"])
def test_an_adapter_whose_id_is_none_is_refused(engine_id: str) -> None:
    with pytest.raises(HopelessStart):
        WorkerEnvironment.read({}).check_engine(engine_id)


def test_voices_lie_in_the_users_data_folder_unless_told_otherwise() -> None:
    folder = WorkerEnvironment.read({}).voice_dir_for("orpheus:3b")
    assert folder.parts[-3:] == ("rhapsode", "voices", "orpheus_3b")


def test_weights_lie_in_the_users_data_folder_unless_told_otherwise() -> None:
    own = WorkerEnvironment.read({}).weights_dir_for("orpheus:3b")
    assert own.parts[-3:] == ("rhapsode", "weights", "orpheus_3b")
    told = WorkerEnvironment.read({"RHAPSODE_WEIGHTS_DIR": "/some/where"})
    assert str(told.weights_dir_for("orpheus:3b")) == "/some/where"


@pytest.mark.contract("d.network.no-token")
@pytest.mark.parametrize(
    "more", [{"RHAPSODE_WORKER_TOKEN": "t"}, {"RHAPSODE_WORKER_OPEN": "1"}], ids=["token", "open"]
)
def test_a_worker_is_on_a_network_only_on_purpose(more: dict[str, str]) -> None:
    listen = {"RHAPSODE_WORKER_LISTEN": "tcp:0.0.0.0:0"}
    with pytest.raises(HopelessStart, match="RHAPSODE_WORKER_TOKEN"):
        WorkerEnvironment.read(listen).check_network()
    WorkerEnvironment.read(listen | more).check_network()
    WorkerEnvironment.read({}).check_network()
