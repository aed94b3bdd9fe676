"""What the bodies are (contract § 6, "Formats")."""

from typing import Final

from rhapsode_conform.answer import Answer
from rhapsode_conform.check import Need, check
from rhapsode_conform.containers import READERS, TYPES, Container, NotAudio, Wav, read_wav
from rhapsode_conform.decoded import decoded
from rhapsode_conform.likeness import ALIKE, likeness
from rhapsode_conform.outcome import expect, failed, skipped, undecided
from rhapsode_conform.recording import as_sound
from rhapsode_conform.sound import Sound
from rhapsode_conform.subject import SEED, Subject

_NAMES: Final = {"wav": "audio/wav", "mp3": "audio/mpeg", "flac": "audio/flac", "pcm": "audio/l16"}
"""The type of each format but opus, which has a check of its own."""

_CODED: Final = ("mp3", "opus", "flac")
_KNOWN: Final = ("wav", "pcm", *_CODED)
"""What can be read here; a worker may answer other formats as well."""

_CODEC_MS: Final = 250
"""How much longer than the samples a container may sound: a codec pads both ends."""
_CODEC_FRAMES: Final = 5
"""The same where frames are long, as those of an MP3 of 8 kHz are, 72 ms each: one holds a tag in
place of sound, and padding comes to three."""

_FLOOR_BYTES: Final = 256
_DURATION: Final = "x-rhapsode-duration-ms"


async def _in(subject: Subject, form: str) -> Answer:
    async def ask() -> Answer:
        return await subject.speak(format=form)

    return await subject.once(f"format {form}", ask)


async def _streamed(subject: Subject, form: str) -> Answer:
    """Returns a sentence streamed; with the seed where it reproduces, so that one will do."""
    seed = await subject.seed()
    subject.wait_on()
    return await subject.asked(format=form, stream=True, seed=seed)


def _coded(subject: Subject) -> list[str]:
    """Returns the formats that a codec makes and that we know."""
    return [form for form in subject.formats if form in _CODED]


@check("6.format.listed")
async def listed(subject: Subject) -> None:
    """Each format is answered with audio, and those of a codec also where they are streamed."""
    for form in subject.formats:
        answer = await _in(subject, form)
        is_audio = answer.is_audio and len(answer.body) >= _FLOOR_BYTES
        expect(is_audio, f"{form} is listed and answered", answer)
    for form in _coded(subject):
        answer = await _streamed(subject, form)
        expect(answer.is_audio, f"{form} is listed and answered as a stream", answer)


@check("6.format.content-type")
async def content_type(subject: Subject) -> None:
    """The body is what its type says, to its end, and as long as it sounds; streamed as well."""
    for form in subject.formats:
        if form in _KNOWN:
            _expect_what_it_says(form, await _in(subject, form))
    for form in _coded(subject):
        answer = await _streamed(subject, form)
        expect(not answer.broken_off, f"{form} is streamed to its end", answer)
        _expect_what_it_says(f"a streamed {form}", answer)
    unknown = [form for form in subject.formats if form not in _KNOWN]
    if unknown:
        raise undecided(f"{', '.join(unknown)} cannot be read here")


def _expect_what_it_says(what: str, answer: Answer) -> None:
    if not answer.is_audio:
        return  # 6.format.listed
    if answer.content_type == "audio/l16":
        as_sound(answer)
        return
    kind = TYPES.get(answer.content_type)
    expect(kind is not None, f"{answer.content_type} is a type that a client knows", answer)
    try:
        container = READERS[kind or "wav"](answer.body)
    except NotAudio as error:
        raise failed(f"{what} is no {answer.content_type}: {error}", answer) from None
    if kind != "wav":
        seen = f"{container.duration_ms:.0f} ms of {answer.header(_DURATION)}"
        expect(_lasts_as_said(container, answer), f"{what} sounds as long as it says", seen)


def _lasts_as_said(container: Container, answer: Answer) -> bool:
    """Whether a container sounds as long as its answer says, where that says so."""
    said = answer.header(_DURATION) or ""
    return not said.isdecimal() or _lasts(container, int(said))


def _lasts(container: Container, milliseconds: float) -> bool:
    """Whether a container sounds that long, but for what a codec adds."""
    most_ms = max(_CODEC_MS, _CODEC_FRAMES * container.frame_ms)
    return abs(container.duration_ms - milliseconds) <= most_ms


@check("6.format.heard", Need.SEED)
async def heard(subject: Subject) -> None:
    """Whatever the format, and streamed or not, the same request is the same utterance."""
    if not _coded(subject):
        raise skipped("it lists no format but wav and pcm that can be read here")
    said = await subject.sound(seed=SEED)
    for form in _coded(subject):
        _expect_heard(form, said, await subject.asked(format=form, seed=SEED))
        _expect_heard(f"a streamed {form}", said, await _streamed(subject, form))


def _expect_heard(what: str, said: Sound, answer: Answer) -> None:
    """Holds an answer against samples of the same request."""
    if not answer.is_audio:
        return  # 6.format.listed
    try:
        container = READERS[TYPES[answer.content_type]](answer.body)
    except (KeyError, NotAudio):
        return  # 6.format.content-type
    if not _lasts_as_said(container, answer):
        return  # 6.format.content-type
    seen = f"{container.duration_ms:.0f} ms, where samples sound {said.duration_ms:.0f}"
    expect(_lasts(container, said.duration_ms), f"{what} holds what was said to its end", seen)
    try:
        sound = decoded(answer.body, container.duration_ms)
    except NotAudio as error:
        raise failed(f"{what} is no audio: {error}", answer) from None
    alike = likeness(said, sound)
    seen = f"{alike:.2f} of 1, where {ALIKE} is needed"
    expect(alike >= ALIKE, f"{what} sounds like samples", seen)


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
