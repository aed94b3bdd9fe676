"""The samples in an answer."""

from rhapsode_conform.answer import Answer
from rhapsode_conform.containers import NotAudio, read_wav
from rhapsode_conform.outcome import failed
from rhapsode_conform.sound import Sound


def as_sound(answer: Answer) -> Sound:
    """Reads samples out of an answer in `pcm` or `wav`.

    Raises:
        Finding: They cannot be read.
    """
    if answer.content_type != "audio/l16":
        try:
            return read_wav(answer.body).sound
        except NotAudio as error:
            raise failed(str(error), answer) from None
    parameters = dict(
        part.strip().lower().split("=", 1)
        for part in (answer.header("content-type") or "").split(";")[1:]
        if "=" in part
    )
    try:
        return Sound(answer.body, int(parameters["rate"]), int(parameters.get("channels", "1")))
    except (KeyError, ValueError):
        raise failed("audio/L16 says its rate and its channels", answer) from None
