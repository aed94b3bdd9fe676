"""What the bodies are (contract § 6, "Formats")."""

from typing import Final

from rhapsode_conform.answer import Answer
from rhapsode_conform.check import Need, check
from rhapsode_conform.containers import READERS, TYPES, NotAudio, Wav, read_wav
from rhapsode_conform.decoded import decoded
from rhapsode_conform.likeness import ALIKE, likeness
from rhapsode_conform.outcome import expect, failed, skipped
from rhapsode_conform.recording import as_sound
from rhapsode_conform.subject import SEED, Subject

_NAMES: Final = {"wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac", "pcm": "audio/l16"}
"""The type of each format but opus, which has a check of its own."""

_CODEC_MS: Final = 250
"""How much longer than the samples a container may sound: a codec pads both ends."""
_CODEC_FRAMES: Final = 5
"""The same where frames are long, as those of an MP3 of 8 kHz are, 72 ms each: one holds a tag in
place of sound, and padding comes to three."""

_FLOOR_BYTES: Final = 256


async def _in(subject: Subject, form: str) -> Answer:
    async def ask() -> Answer:
        return await subject.speak(format=form)

    return await subject.once(f"format {form}", ask)


@check("6.format.listed")
async def listed(subject: Subject) -> None:
    """Each format is answered with audio."""
    for form in subject.formats:
        answer = await _in(subject, form)
        is_audio = answer.is_audio and len(answer.body) >= _FLOOR_BYTES
        expect(is_audio, f"{form} is listed and answered", answer)


@check("6.format.content-type")
async def content_type(subject: Subject) -> None:
    """The body is what its type says, to its end, and as long as it sounds."""
    for form in subject.formats:
        answer = await _in(subject, form)
        if not answer.is_audio:
            continue  # 6.format.listed
        if answer.content_type == "audio/l16":
            as_sound(answer)
            continue
        kind = TYPES.get(answer.content_type)
        expect(kind is not None, f"{answer.content_type} is a type that a client knows", answer)
        try:
            container = READERS[kind or "wav"](answer.body)
        except NotAudio as error:
            raise failed(f"{form} is no {answer.content_type}: {error}", answer) from None
        said = answer.header("x-rhapsode-duration-ms") or ""
        if said.isdecimal() and kind != "wav":
            most_ms = max(_CODEC_MS, _CODEC_FRAMES * container.frame_ms)
            is_near = abs(container.duration_ms - int(said)) <= most_ms
            seen = f"{container.duration_ms:.0f} ms of {said}"
            expect(is_near, f"{form} sounds as long as it says", seen)


@check("6.format.heard", Need.SEED)
async def heard(subject: Subject) -> None:
    """Whatever the format, the same request is the same utterance."""
    others = [form for form in subject.formats if form not in {"wav", "pcm"}]
    if not others:
        raise skipped("it lists no format but wav and pcm")
    said = await subject.sound(seed=SEED)
    for form in others:
        answer = await subject.asked(format=form, seed=SEED)
        if not answer.is_audio:
            continue  # 6.format.listed
        try:
            container = READERS[TYPES.get(answer.content_type, form)](answer.body)
        except NotAudio:
            continue  # 6.format.content-type
        try:
            sound = decoded(answer.body, container.duration_ms)
        except NotAudio as error:
            raise failed(f"{form} is no audio: {error}", answer) from None
        alike = likeness(said, sound)
        seen = f"{alike:.2f} of 1, where {ALIKE} is needed"
        expect(alike >= ALIKE, f"{form} sounds like {subject.sampled}", seen)


@check("6.format.opus")
async def opus(subject: Subject) -> None:
    """Ogg Opus, called audio/opus."""
    if "opus" not in subject.formats:
        raise skipped("opus is not among its formats")
    answer = await _in(subject, "opus")
    is_opus = answer.content_type == "audio/opus" and answer.body[:4] == b"OggS"
    expect(is_opus, "opus is Ogg Opus and answered as audio/opus", answer)


@check("d.formats.types")
async def types(subject: Subject) -> None:
    """Each format by its one name."""
    for form in subject.formats:
        answer = await _in(subject, form)
        if answer.is_audio and form in _NAMES:
            expect(answer.content_type == _NAMES[form], f"{form} is {_NAMES[form]}", answer)


@check("d.formats.wav-streamed")
async def wav_streamed(subject: Subject) -> None:
    """One header that says it does not know."""
    wav = await _wav(subject, is_streamed=True)
    sizes = f"sizes {wav.riff_size:#x} and {wav.data_size:#x}"
    expect(wav.is_open_ended, "a streamed WAV has sizes 0xFFFFFFFF", sizes)
    _expect_one_header(wav)


@check("d.formats.wav-buffered")
async def wav_buffered(subject: Subject) -> None:
    """One header that says it exactly, and nothing after the samples."""
    wav = await _wav(subject, is_streamed=False)
    told = f"sizes {wav.riff_size} and {wav.data_size}"
    seen = f"{told} in {wav.body_size} bytes with {len(wav.sound.pcm)} of samples"
    expect(wav.is_exact, "a buffered WAV has exact sizes", seen)
    _expect_one_header(wav)


async def _wav(subject: Subject, *, is_streamed: bool) -> Wav:
    if "wav" not in subject.formats:
        raise skipped("wav is not among its formats")
    answer = await subject.heard(format="wav", stream=is_streamed)
    try:
        return read_wav(answer.body)
    except NotAudio as error:
        raise failed(str(error), answer) from None


def _expect_one_header(wav: Wav) -> None:
    expect(b"RIFF" not in wav.sound.pcm, "a WAV has one header", "RIFF among the samples")


@check("d.codes.format-open")
async def format_open(subject: Subject) -> None:
    """A format nobody has heard of."""
    answer = await subject.speak(format="no-such-format")
    expect(answer.code == "unsupported", "an unlisted format is `unsupported`", answer)


@check("d.stream.headers")
async def stream_headers(subject: Subject) -> None:
    """Nobody on the way keeps a stream back."""
    answer = await subject.heard(stream=True)
    said = (answer.header("cache-control"), answer.header("x-accel-buffering"))
    is_said = said == ("no-store", "no")
    expect(is_said, "a stream says Cache-Control: no-store and X-Accel-Buffering: no", said)
