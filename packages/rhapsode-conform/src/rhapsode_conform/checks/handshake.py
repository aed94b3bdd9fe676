"""How a worker starts: its variables, its handshake, its address (contract §§ 1, 2)."""

from dataclasses import dataclass, replace

import anyio
from rhapsode_http import TcpAddress, UpstreamError, parse_address

from rhapsode_conform.answer import Answer
from rhapsode_conform.check import Need, check
from rhapsode_conform.outcome import expect, failed, undecided
from rhapsode_conform.spawned import Spawned
from rhapsode_conform.subject import Subject
from rhapsode_conform.wire import Wire


def _own(subject: Subject) -> Spawned:
    assert subject.worker is not None, "the check needs a spawned worker"
    return subject.worker


@check("2.handshake.one-line", Need.SPAWNED)
async def one_line(subject: Subject) -> None:
    """One JSON line, and one only, is a handshake."""
    lines = [line for line in _own(subject).lines if '"ready"' in line]
    expect(len(lines) == 1, f"{len(lines)} lines look like a handshake", " / ".join(lines))


@check("2.handshake.bound", Need.SPAWNED)
async def bound(subject: Subject) -> None:
    """The first connection was made as soon as the line was read."""
    expect(subject.could_connect, "a connection made right after the handshake was refused")


@check("2.handshake.fields", Need.SPAWNED)
async def fields(subject: Subject) -> None:
    """`ready`, `contract`, `engine` and `listen`, each of its kind."""
    handshake = _own(subject).handshake
    expect(handshake.get("ready") is True, "`ready` is true", handshake)
    contract = handshake.get("contract")
    is_whole = isinstance(contract, int) and not isinstance(contract, bool)
    expect(is_whole, "`contract` is a whole number", handshake)
    told = _own(subject).start.engine
    engine = handshake.get("engine")
    is_told = isinstance(engine, str) and engine != "" and told in {None, engine}
    expect(is_told, f"`engine` is the id it was started with, {told!r}", handshake)
    try:
        parse_address(str(handshake.get("listen")))
    except ValueError as error:
        raise failed(f"`listen` is an address: {error}", handshake) from None


@check("2.spawn.listen-unix", Need.SPAWNED)
async def listen_unix(subject: Subject) -> None:
    """It listens where it was told to."""
    told = str(_own(subject).start.listen)
    listen = _own(subject).handshake.get("listen")
    expect(listen == told, f"it was told to listen on {told}", f"listen is {listen!r}")


@check("1.transport.unix", Need.SPAWNED)
async def transport_unix(subject: Subject) -> None:
    """It answers there."""
    is_unix = not isinstance(subject.wire.address, TcpAddress)
    expect(is_unix, "it was told of a Unix socket and serves TCP", subject.wire.address)
    health = await subject.wire.get("/health")
    expect(health.status == 200, "no health over the Unix socket", health)


@dataclass(frozen=True)
class _OnTcp:
    listen: object
    health: Answer | None = None
    capabilities: Answer | None = None
    spoken: Answer | None = None
    broken_off: str = ""
    """Why what is missing is missing, where a request got no answer."""


async def _on_tcp(subject: Subject) -> _OnTcp:
    """Starts a worker on a free port and asks it the same as the one on the Unix socket."""

    async def look() -> _OnTcp:
        async with subject.started(listen=TcpAddress("127.0.0.1", 0)) as worker:
            listen = worker.handshake.get("listen")
            try:
                address = parse_address(str(listen))
            except ValueError:
                return _OnTcp(listen)
            if not isinstance(address, TcpAddress) or not address.port:
                return _OnTcp(listen)
            wire = subject.wire_to(address)
            try:
                return await _asked(_OnTcp(listen), wire, subject, worker)
            finally:
                await wire.aclose()

    return await subject.once("on tcp", look)


async def _asked(seen: _OnTcp, wire: Wire, subject: Subject, worker: Spawned) -> _OnTcp:
    try:
        seen = replace(seen, health=await wire.get("/health"))
        seen = replace(seen, capabilities=await wire.get("/capabilities"))
        return replace(seen, spoken=await wire.post("/speak", subject.request({})))
    except UpstreamError as error:
        with anyio.move_on_after(subject.patience.stay_seconds):
            await worker.exited()  # the usual reason, told if it is one
        return replace(seen, broken_off=f"{error}; the worker {worker.state}")


@check("2.spawn.listen-tcp", Need.SPAWNED)
async def listen_tcp(subject: Subject) -> None:
    """Port 0 is a free port, and the handshake names it."""
    seen = await _on_tcp(subject)
    expect(
        seen.health is not None,
        "told tcp:127.0.0.1:0 it names the port it took, and listens there",
        f"listen is {seen.listen!r} {seen.broken_off}",
    )


@check("1.transport.tcp", Need.SPAWNED)
async def transport_tcp(subject: Subject) -> None:
    """The same document and the same audio as on the Unix socket."""
    seen = await _on_tcp(subject)
    if seen.health is None:
        raise undecided("it could not be reached on TCP; see 2.spawn.listen-tcp")
    if seen.capabilities is None or seen.spoken is None:
        raise failed("a request over TCP got no answer", seen.broken_off)
    here, there = subject.document.get("variants"), seen.capabilities.object.get("variants")
    expect(here == there, "its capabilities are the same on TCP", seen.capabilities)
    expect(seen.spoken.is_audio, "it speaks on TCP", seen.spoken)


@dataclass(frozen=True)
class _Bare:
    words: str
    """What a process that never shook hands said instead; empty where it did."""
    spoken: Answer | None
    spoken_later: Answer | None
    status: int | None


async def _bare(subject: Subject) -> _Bare:
    """Starts a worker with the three variables alone, and then closes its standard input."""

    async def look() -> _Bare:
        async with subject.started(has_lifeline=False, is_bare=True) as worker:
            if not worker.handshake:
                return _Bare(worker.last_words, None, None, worker.status)
            wire = subject.wire_to(parse_address(str(worker.handshake.get("listen"))))
            try:
                spoken = await wire.post("/speak", subject.request({}))
                await worker.cut_lifeline()
                with anyio.move_on_after(subject.patience.stay_seconds):
                    return _Bare("", spoken, None, await worker.exited())
                later = await wire.post("/speak", subject.request({}))
                return _Bare("", spoken, later, None)
            finally:
                await wire.aclose()

    return await subject.once("bare", look)


@check("2.spawn.three-suffice", Need.SPAWNED)
async def three_suffice(subject: Subject) -> None:
    """It starts and speaks."""
    seen = await _bare(subject)
    expect(not seen.words, "with the three variables alone it does not start", seen.words)
    assert seen.spoken is not None
    expect(seen.spoken.is_audio, "with the three variables alone it does not speak", seen.spoken)


@check("1.protocol.by-hand", Need.SPAWNED)
async def by_hand(subject: Subject) -> None:
    """It lives on and speaks with nobody at the other end of its standard input."""
    seen = await _bare(subject)
    if seen.spoken is None:
        raise undecided("it did not start; see 2.spawn.three-suffice")
    if not seen.spoken.is_audio:
        raise undecided("it did not speak before either; see 2.spawn.three-suffice")
    expect(
        seen.spoken_later is not None and seen.spoken_later.is_audio,
        "without a life line, the end of standard input is nothing to it",
        seen.spoken_later or f"it ended with status {seen.status}",
    )
