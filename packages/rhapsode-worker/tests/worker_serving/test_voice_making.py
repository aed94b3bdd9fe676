"""Voices made, replaced, spoken, heard and taken away over the socket (contract § 7)."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from rhapsode_contract import BadRequest, Voice
from rhapsode_http import UPLOAD_LIMIT_BYTES
from rhapsode_worker.encoding.pool import EncoderPool
from rhapsode_worker.engine import Engine
from rhapsode_worker.requests import SpeakRequest
from rhapsode_worker.voicing.new_voice import NewVoice

from .maker import Maker, clip
from .player import Latch, Player
from .stage import Answer, Stage, happened, on_stage, until
from .voice_form import MULTIPART, File, create, form, part

pytestmark = pytest.mark.anyio

SAM: File = ("clip.wav", clip(700))
MEGABYTE = 1_000_000


def references_in(maker: Maker) -> list[str]:
    """Every file that is a voice, or on its way to be one."""
    store = maker.voice_dir / ".store"
    places = [maker.voice_dir, store / "incoming", store / "records"]
    return [path.name for place in places if place.is_dir() for path in place.iterdir()
            if path.is_file()]  # fmt: skip


async def listed(stage: Stage) -> dict[str, Any]:
    """Returns the voices there are, by id."""
    return {voice["id"]: voice for voice in (await stage.ask("GET", "/voices")).json}


@pytest.mark.contract("7.create.label")
async def test_a_created_voice_is_answered_as_listed_spoken_at_once_and_gone_after_its_delete(
    encoders: EncoderPool, tmp_path: Path
) -> None:
    async with on_stage(Maker(tmp_path), encoders) as stage:
        made = await create(stage, id="sam", label="Sam", reference=SAM)
        assert made.status == 201
        assert made.json == (await listed(stage))["sam"]
        assert made.json["label"] == "Sam"
        spoken = await stage.speak(voice="sam")
        assert spoken.status == 200
        assert spoken.body != (await stage.speak(voice="ann")).body
        gone = await stage.ask("DELETE", "/voices/sam")
        assert (gone.status, gone.body) == (204, b"")
        assert "sam" not in await listed(stage)
        assert (await stage.speak(voice="sam")).code == "unknown_voice"
        assert (await stage.ask("DELETE", "/voices/sam")).code == "unknown_voice"


@pytest.mark.contract("7.create.replaces", "7.spec.opaque")
async def test_creating_an_id_that_exists_replaces_the_voice_and_its_spec(
    encoders: EncoderPool, tmp_path: Path
) -> None:
    async with on_stage(Maker(tmp_path), encoders) as stage:
        first = await create(stage, id="sam", reference=SAM)
        sound = (await stage.speak(voice="sam")).body
        again = await create(stage, id="sam", reference=("b.wav", clip(800)))
        assert again.status == 201
        assert again.json["spec"] != first.json["spec"]
        assert list(await listed(stage)).count("sam") == 1
        assert (await stage.speak(voice="sam")).body != sound


class OnlyCloner(Maker):
    """A maker that mixes no voices."""

    blend_voice = Engine.blend_voice


class OnlyBlender(Maker):
    """A maker that clones nobody."""

    create_voice = Engine.create_voice


@pytest.mark.parametrize(
    ("kind", "able", "unable"),
    [
        (OnlyCloner, {"reference": SAM}, {"blend": "ann"}),
        (OnlyBlender, {"blend": "ann"}, {"reference": SAM}),
    ],
    ids=["clones", "blends"],
)
@pytest.mark.contract("7.create.one-source")
async def test_two_sources_are_one_too_many_also_where_one_alone_is_unsupported(
    kind: type[Maker],
    able: dict[str, Any],
    unable: dict[str, Any],
    encoders: EncoderPool,
    tmp_path: Path,
) -> None:
    maker = kind(tmp_path)
    async with on_stage(maker, encoders) as stage:
        for both in (able | unable, unable | able):
            assert (await create(stage, id="sam", **both)).code == "bad_request"
        assert (await create(stage, id="sam", **unable)).code == "unsupported"
        assert references_in(maker) == []
        assert (await create(stage, id="sam", **able)).status == 201


@pytest.mark.parametrize(
    "fields", [{}, {"reference": SAM, "blend": "ann"}], ids=["neither", "both"]
)
@pytest.mark.contract("7.create.one-source")
async def test_a_create_has_exactly_one_source(
    fields: dict[str, Any], encoders: EncoderPool, tmp_path: Path
) -> None:
    maker = Maker(tmp_path)
    async with on_stage(maker, encoders) as stage:
        answer = await create(stage, id="sam", **fields)
        assert (answer.status, answer.code) == (400, "bad_request")
    assert maker.events == []
    assert references_in(maker) == []


@pytest.mark.parametrize(
    ("file", "status", "code"),
    [
        (("clip.exe", clip(700)), 422, "unsupported"),
        (("clip.wav", b"no pitch"), 400, "bad_request"),
        (("clip.wav", b""), 400, "bad_request"),
        (("../clip.wav", clip(700)), 400, "bad_request"),
    ],
    ids=["type", "contents", "empty", "path"],
)
@pytest.mark.contract("7.create.reference")
async def test_a_reference_that_is_none_leaves_nothing(
    file: File, status: int, code: str, encoders: EncoderPool, tmp_path: Path
) -> None:
    maker = Maker(tmp_path)
    async with on_stage(maker, encoders) as stage:
        answer = await create(stage, id="sam", reference=file)
        assert (answer.status, answer.code) == (status, code)
        assert answer.message.startswith("reference:")
        assert "sam" not in await listed(stage)
    assert references_in(maker) == []


@pytest.mark.parametrize("voice_id", ["../sam", "*", "a b", "-sam", "s" * 65, "sam\u00e9"])
@pytest.mark.contract("7.id.grammar")
async def test_an_id_that_is_none_never_reaches_the_adapter(
    voice_id: str, encoders: EncoderPool, tmp_path: Path
) -> None:
    maker = Maker(tmp_path)
    async with on_stage(maker, encoders) as stage:
        answer = await create(stage, id=voice_id, reference=SAM)
        assert (answer.status, answer.code) == (400, "bad_request")
    assert maker.events == []
    assert references_in(maker) == []


@pytest.mark.contract("7.create.transcript")
async def test_a_transcript_is_handed_on_and_an_engine_may_demand_it(
    encoders: EncoderPool, tmp_path: Path
) -> None:
    maker = Maker(tmp_path)
    heard: list[str | None] = []
    maker.on_create = lambda new: heard.append(new.transcript)
    async with on_stage(maker, encoders) as stage:
        assert (await create(stage, id="sam", reference=SAM, transcript="Rain.")).status == 201
        assert (await create(stage, transcript="Rain.", reference=SAM, id="tom")).status == 201
        assert (await create(stage, id="sam", reference=SAM)).status == 201
        maker.on_create = demand_transcript
        answer = await create(stage, id="sam", reference=SAM)
        assert (answer.status, answer.code) == (400, "bad_request")
        assert answer.message.startswith("transcript:")
    assert heard == ["Rain.", "Rain.", None]


def demand_transcript(new: NewVoice) -> None:
    if new.transcript is None:
        raise BadRequest("transcript: this engine needs the words spoken", field="transcript")


@pytest.mark.contract("7.blend.recipe")
async def test_a_blend_is_weighted_and_its_unknown_parts_are_unknown_voices(
    encoders: EncoderPool, tmp_path: Path
) -> None:
    maker = Maker(tmp_path)
    async with on_stage(maker, encoders) as stage:
        assert (await create(stage, id="mix", blend="ann(3)+bert")).status == 201
        assert maker.hertz_of("mix") == 385
        assert (await create(stage, id="more", blend="mix+zoe")).status == 201
        for recipe in ("ann+nobody", "nobody"):
            answer = await create(stage, id="bad", blend=recipe)
            assert (answer.status, answer.code) == (404, "unknown_voice")
            assert answer.message.startswith("blend:")
        for recipe in ("ann(0)", "ann(-1)", "ann(", "+", "ann+../x"):
            answer = await create(stage, id="bad", blend=recipe)
            assert (answer.status, answer.code) == (400, "bad_request")
        assert list(await listed(stage))[4:] == ["mix", "more"]
    assert maker.events == ["blend mix", "blend more"]


@pytest.mark.contract("7.blend.fixed")
async def test_a_blend_outlives_its_parts(encoders: EncoderPool, tmp_path: Path) -> None:
    async with on_stage(Maker(tmp_path), encoders) as stage:
        await create(stage, id="sam", reference=SAM)
        made = await create(stage, id="mix", blend="sam+ann")
        sound = (await stage.speak(voice="mix")).body
        await create(stage, id="sam", reference=("b.wav", clip(300)))
        assert (await stage.speak(voice="mix")).body == sound
        await stage.ask("DELETE", "/voices/sam")
        assert (await stage.speak(voice="mix")).body == sound
        assert (await listed(stage))["mix"] == made.json


class Blender(Player):
    """Makes voices from others only."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.voice_dir = folder

    def blend_voice(self, new: NewVoice) -> None:
        self._note("blend")


class Cloner(Player):
    """Makes voices from references only, and then loses them."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.voice_dir = folder

    def create_voice(self, new: NewVoice) -> None:
        self._note("create")


@pytest.mark.parametrize(
    ("kind", "fields"),
    [(Blender, {"reference": SAM}), (Cloner, {"blend": "ann"})],
)
@pytest.mark.contract("7.create.impossible")
async def test_an_engine_that_makes_voices_one_way_refuses_and_declares_not_the_other(
    kind: type[Blender] | type[Cloner],
    fields: dict[str, Any],
    encoders: EncoderPool,
    tmp_path: Path,
) -> None:
    player = kind(tmp_path)
    async with on_stage(player, encoders) as stage:
        answer = await create(stage, id="sam", **fields)
        assert (answer.status, answer.code) == (422, "unsupported")
        for variant in (await stage.ask("GET", "/capabilities")).json["variants"].values():
            assert variant["cloning"]["supported"] == (kind is Cloner)
            assert variant["blending"]["supported"] == (kind is Blender)
        assert (await stage.ask("DELETE", "/voices/ann")).code == "unsupported"
        assert (await stage.ask("GET", "/voices/ann/preview")).code == "unsupported"
    assert player.events == []


@pytest.mark.contract("4.cloning.per-variant", "4.dialogue.declared", "8.dialogue.derived")
async def test_what_is_overridden_is_declared(encoders: EncoderPool, tmp_path: Path) -> None:
    async with on_stage(Maker(tmp_path), encoders) as stage:
        document = (await stage.ask("GET", "/capabilities")).json
    for variant in document["variants"].values():
        assert variant["cloning"] == {"supported": True, "formats": ["wav", "npy"]}
        assert variant["blending"] == {"supported": True}
        assert variant["dialogue"] == {"maxSpeakers": 3}


async def test_an_adapter_that_does_not_list_what_it_made_is_at_fault(
    encoders: EncoderPool, tmp_path: Path
) -> None:
    async with on_stage(Cloner(tmp_path), encoders) as stage:
        answer = await create(stage, id="sam", reference=SAM)
        assert (answer.status, answer.code) == (500, "internal")


class SlowLister(Maker):
    """Holds the list that is read after a voice was made."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.latch = Latch()
        self._has_just_made = False

    def create_voice(self, new: NewVoice) -> None:
        super().create_voice(new)
        self._has_just_made = True

    def voices(self) -> list[Voice]:
        if self._has_just_made:
            self._has_just_made = False
            self.latch.hold()
        return super().voices()


async def test_a_voice_that_is_taken_away_as_it_is_made_was_made(
    encoders: EncoderPool, tmp_path: Path
) -> None:
    maker = SlowLister(tmp_path)
    statuses: dict[str, int] = {}

    async def make() -> None:
        statuses["create"] = (await create(stage, id="sam", reference=SAM)).status

    async def take_away() -> None:
        statuses["delete"] = (await stage.ask("DELETE", "/voices/sam")).status

    async with on_stage(maker, encoders) as stage, anyio.create_task_group() as tasks:
        tasks.start_soon(make)
        await happened(maker.latch.reached)
        tasks.start_soon(take_away)
        for _ in range(20):  # as long as a delete takes that does not wait
            await listed(stage)
        maker.latch.open()
    assert statuses == {"create": 201, "delete": 204}


@pytest.mark.parametrize(
    "failure", [RuntimeError("no"), SystemExit("no"), StopIteration()], ids=repr
)
async def test_whatever_an_adapter_raises_is_an_answer_and_the_worker_lives(
    failure: BaseException, encoders: EncoderPool, tmp_path: Path
) -> None:
    maker = Maker(tmp_path)

    def fail(_: NewVoice) -> None:
        raise failure

    maker.on_create = fail
    async with on_stage(maker, encoders) as stage:
        answer = await create(stage, id="sam", reference=SAM)
        assert (answer.status, answer.code) == (500, "internal")
        assert (await stage.speak()).status == 200
    assert references_in(maker) == []


@pytest.mark.contract("7.create.loads-nothing")
async def test_a_create_needs_neither_the_model_nor_the_engine_s_turn(
    encoders: EncoderPool, tmp_path: Path
) -> None:
    maker = Maker(tmp_path)
    latch = Latch()

    def score(request: SpeakRequest) -> Any:
        latch.hold()
        return maker.play(request)

    async with on_stage(maker, encoders) as stage:
        assert (await create(stage, id="sam", reference=SAM)).status == 201
        assert (await stage.ask("GET", "/health")).json["model"] == "unloaded"
        assert maker.events == ["create sam"]
        maker.score = score
        answers: list[Answer] = []

        async def speak() -> None:
            answers.append(await stage.speak())

        async with anyio.create_task_group() as group:
            group.start_soon(speak)
            await happened(latch.reached)
            assert (await create(stage, id="tom", reference=SAM)).status == 201
            assert (await create(stage, id="mix", blend="sam+tom")).status == 201
            assert (await stage.ask("DELETE", "/voices/sam")).status == 204
            assert stage.studio.waiting == 0
            latch.open()
        assert answers[0].status == 200


@pytest.mark.contract("d.preview.no-model")
async def test_only_what_can_be_heard_has_a_preview(encoders: EncoderPool, tmp_path: Path) -> None:
    async with on_stage(Maker(tmp_path), encoders) as stage:
        made = await create(stage, id="sam", reference=SAM)
        await create(stage, id="mix", blend="sam+ann")
        assert made.json["previewUrl"] == "/voices/sam/preview"
        heard = await stage.ask("GET", made.json["previewUrl"])
        assert (heard.status, heard.headers["content-type"]) == (200, "audio/wav")
        assert heard.body == clip(700)
        voices = await listed(stage)
        for voice_id in ("mix", "ann"):
            assert "previewUrl" not in voices[voice_id]
            answer = await stage.ask("GET", f"/voices/{voice_id}/preview")
            assert (answer.status, answer.code) == (422, "unsupported")
        assert (await stage.ask("GET", "/voices/no/preview")).code == "unknown_voice"
        assert (await stage.ask("GET", "/health")).json["model"] == "unloaded"


async def test_a_voice_that_goes_while_it_is_listed_is_no_failure_of_the_list(
    encoders: EncoderPool, tmp_path: Path
) -> None:
    maker = Maker(tmp_path)
    async with on_stage(maker, encoders) as stage:
        await create(stage, id="sam", reference=SAM)
        stale = maker.store.listed()
        maker.store.delete("sam")
        maker.store.listed = lambda salt=None: stale  # type: ignore[method-assign]  # read before
        assert "previewUrl" not in (await listed(stage))["sam"]


async def test_the_engine_s_own_voices_stay(encoders: EncoderPool, tmp_path: Path) -> None:
    async with on_stage(Maker(tmp_path), encoders) as stage:
        answer = await stage.ask("DELETE", "/voices/ann")
        assert (answer.status, answer.code) == (422, "unsupported")
        assert "ann" in await listed(stage)


@pytest.mark.contract("7.create.never-unpickled")
async def test_nothing_in_an_upload_is_run(encoders: EncoderPool, tmp_path: Path) -> None:
    maker, mark = Maker(tmp_path), tmp_path / "it-was-run"
    poison = b"cbuiltins\nopen\n(V%s\nVw\ntR." % str(mark).encode()
    async with on_stage(maker, encoders) as stage:
        for name in ("voice.wav", "voice.npy", "voice.pt", "voice.pkl"):
            answer = await create(stage, id="sam", reference=(name, poison))
            assert answer.status in {400, 422}
    assert not await anyio.Path(mark).exists()


async def test_a_body_over_the_limit_is_refused_as_it_arrives(
    encoders: EncoderPool, tmp_path: Path
) -> None:
    maker = Maker(tmp_path)
    whole = form(id="sam", reference=("clip.wav", clip(700) + bytes(UPLOAD_LIMIT_BYTES)))

    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(whole), MEGABYTE):
            yield whole[at : at + MEGABYTE]

    kind = (b"content-type", MULTIPART.encode())
    length = (b"content-length", str(len(whole)).encode())
    async with on_stage(maker, encoders) as stage:
        for headers in ([kind], [kind, length]):
            async with await stage.client.request("POST", "/voices", headers, pieces()) as response:
                assert response.status == 400
                assert b"bad_request" in await response.read_all(limit_bytes=MEGABYTE)
        assert references_in(maker) == []
        within = clip(700).ljust(20 * MEGABYTE)
        assert (await create(stage, id="sam", reference=("clip.wav", within))).status == 201


async def test_a_client_that_leaves_in_the_middle_leaves_no_file(
    encoders: EncoderPool, tmp_path: Path
) -> None:
    maker = Maker(tmp_path)
    async with on_stage(maker, encoders) as stage:
        async with await anyio.connect_unix(stage.socket) as leaving:
            head = f"POST /voices HTTP/1.1\r\nhost: w\r\ncontent-type: {MULTIPART}\r\n"
            await leaving.send(f"{head}content-length: {MEGABYTE}\r\n\r\n".encode())
            await leaving.send(part("id", "sam") + part("reference", ("c.wav", bytes(300_000))))
            await until(lambda: references_in(maker) != [])
        await until(lambda: references_in(maker) == [])
        assert "sam" not in await listed(stage)
    assert maker.events == []
