"""The documents that the contract prints are read, and written again as they were."""

import json
from typing import Any

import pytest
from rhapsode_contract import (
    Capabilities,
    CatalogEntry,
    CoreHealth,
    DialogueRequest,
    EngineSummary,
    ErrorBody,
    Handshake,
    Health,
    InstallJob,
    JobEvent,
    LoadRequest,
    OpenAIErrorBody,
    OpenAISpeechRequest,
    PublicDialogueRequest,
    PublicSpeakRequest,
    PullRequest,
    ReinstallOutdated,
    Request,
    ResidencyDetail,
    SettingsDocument,
    Shape,
    SpeakRequest,
    UpdateStatus,
    Voice,
    parse_request,
    read_shape,
)

CUES = ["laugh", "chuckle", "sigh", "gasp", "cough", "clear throat", "sniff", "groan"]
CLONING = {"supported": True, "referenceSeconds": [5, 10]}
EXPRESSIVE: dict[str, Any] = {"cues": [], "deliveries": ["hushed", "frantic"]}
EXAGGERATION = {"min": 0, "max": 2, "default": 0.5}

CAPABILITIES: dict[str, Any] = {
    "contract": 1,
    "engine": {
        "id": "chatterbox",
        "displayName": "Chatterbox",
        "adapterVersion": "0.3.1",
        "upstreamVersion": "0.1.4",
    },
    "license": {
        "code": "MIT",
        "weights": "MIT",
        "weightsCommercialUse": True,
        "notes": "https://example.com/chatterbox",
    },
    "device": {"type": "cuda", "name": "NVIDIA GeForce RTX 4090", "vramBytes": 25757220864},
    "current": {
        "variant": "turbo",
        "cues": CUES,
        "deliveries": [],
        "dials": {},
        "languages": ["en"],
        "maxCharacters": 4096,
        "segmentation": {"supported": True, "segmentCharacters": 300},
        "cloning": CLONING | {"formats": ["wav", "mp3", "flac", "ogg"]},
        "blending": {"supported": False},
        "streaming": {"supported": True, "granularity": "chunk"},
        "nativeFormat": {"encoding": "pcm_s16le", "sampleRate": 24000, "channels": 1},
    },
    "variants": {
        "turbo": {"cues": CUES, "deliveries": [], "dials": {}, "cloning": CLONING},
        "original": EXPRESSIVE | {"dials": {"exaggeration": EXAGGERATION}},
        "multilingual": EXPRESSIVE
        | {"dials": {"exaggeration": EXAGGERATION}, "languages": ["en", "fr", "de", "es"]},
        "1.6b": {"cues": [], "deliveries": [], "dials": {}, "dialogue": {"maxSpeakers": 2}},
    },
    "formats": ["wav", "mp3", "opus", "flac", "pcm"],
}
IDLE: dict[str, Any] = {name: part for name, part in CAPABILITIES.items() if name != "current"}
LICENSE = {"code": "MIT", "weights": "MIT", "weightsCommercialUse": True}
SUMMARY = {
    "id": "kokoro",
    "displayName": "Kokoro",
    "license": LICENSE,
    "process": "up",
    "model": "loaded",
    "variant": "int8",
    "restarts": 0,
    "workerVersion": "0.1.9",
    "outdated": True,
}
JOB = {
    "id": "01J8Z6Q4B7",
    "engine": "chatterbox",
    "kind": "install",
    "state": "running",
    "step": "packages",
    "createdAt": "2026-09-18T14:02:11.000Z",
    "startedAt": "2026-09-18T14:02:11.004Z",
}
FAILED_JOB = JOB | {
    "state": "failed",
    "finishedAt": "2026-09-18T14:03:00.500Z",
    "error": {"code": "internal", "message": "pip: no C compiler", "retryable": False},
}
QUEUED_JOB = {
    "id": "01J8Z6Q4B8",
    "engine": "kokoro",
    "kind": "reinstall",
    "state": "queued",
    "createdAt": "2026-09-21T09:20:00.000Z",
}
SETTINGS: dict[str, Any] = {
    "values": {
        "server": {"port": 8080, "host": "::", "shutdownGraceMs": 20000},
        "management": {"tokenSet": True, "origins": []},
        "update": {"check": True},
        "engines": {"kokoro": {"keepAliveSeconds": 900}},
    },
    "fields": [
        {"key": "residency.keepAliveSeconds", "source": "default", "applies": "live"},
        {"key": "server.port", "source": "config", "applies": "restart", "saved": 9090},
        {"key": "management.token", "source": "database", "applies": "restart", "saved": True},
    ],
}

READ: list[tuple[str, type[Shape], dict[str, Any]]] = [
    (
        "2 handshake",
        Handshake,
        {
            "ready": True,
            "contract": 1,
            "engine": "chatterbox",
            "listen": "unix:/run/rhapsode/workers/chatterbox.sock",
        },
    ),
    (
        "3 health",
        Health,
        {
            "process": "up",
            "model": "loaded",
            "variant": "turbo",
            "device": "cuda:0",
            "vramBytes": 4831838208,
            "modelBytes": 3355443200,
        },
    ),
    ("3 idle health", Health, {"process": "up", "model": "unloaded", "device": "cpu"}),
    (
        "3 residency",
        ResidencyDetail,
        {
            "resident": 1,
            "max": 1,
            "waiting": 0,
            "models": [
                {
                    "engine": "dia",
                    "variant": "full",
                    "leases": 0,
                    "lastUsedAt": "2026-09-20T11:04:02.118Z",
                    "expiresAt": "2026-09-20T11:09:02.118Z",
                    "keepAliveSeconds": 300,
                    "sizeBytes": 3355443200,
                }
            ],
        },
    ),
    ("4 capabilities", Capabilities, CAPABILITIES),
    ("4 idle capabilities", Capabilities, IDLE),
    (
        "6 error",
        ErrorBody,
        {
            "error": {
                "code": "unknown_voice",
                "message": 'no voice "narrator_99"',
                "retryable": False,
            }
        },
    ),
    (
        "7 voice",
        Voice,
        {
            "id": "narrator_02",
            "label": "Narrator 02",
            "description": "Cloned from narrator_02.wav",
            "spec": "narrator_02@turbo",
            "tags": ["cloned", "en"],
            "previewUrl": "/voices/narrator_02/preview",
        },
    ),
    ("7 plain voice", Voice, {"id": "a", "label": "A", "spec": "a@1"}),
    ("9 summary", EngineSummary, SUMMARY),
    (
        "9 health",
        CoreHealth,
        {
            "contract": 1,
            "version": "0.1.0",
            "status": "ok",
            "engines": [SUMMARY],
            "residency": {"resident": 1, "max": 1, "waiting": 2, "blockedBy": "dia"},
        },
    ),
    (
        "9 update",
        UpdateStatus,
        {
            "version": "0.1.9",
            "check": "ok",
            "latest": "0.2.0",
            "updateAvailable": True,
            "releaseUrl": "https://example.com/releases/tag/v0.2.0",
            "checkedAt": "2026-09-21T09:14:02.000Z",
            "distribution": "docker",
        },
    ),
    (
        "9 update off",
        UpdateStatus,
        {"version": "0.1.9", "check": "off", "distribution": "source"},
    ),
    ("10 settings", SettingsDocument, SETTINGS),
    (
        "10 catalog",
        CatalogEntry,
        {
            "id": "chatterbox",
            "displayName": "Chatterbox",
            "license": LICENSE,
            "package": "rhapsode-engine-chatterbox",
            "defaultVariant": "turbo",
            "installed": "yes",
            "managed": True,
        },
    ),
    ("10 job", InstallJob, JOB),
    ("10 failed job", InstallJob, FAILED_JOB),
    (
        "10 outdated",
        ReinstallOutdated,
        {"jobs": [QUEUED_JOB], "skipped": [{"engine": "research", "reason": "licence"}]},
    ),
    ("10 nothing outdated", ReinstallOutdated, {"jobs": [], "skipped": []}),
    (
        "10 event",
        JobEvent,
        {
            "id": 7,
            "ts": "2026-09-18T14:02:11.004Z",
            "kind": "progress",
            "source": "installs",
            "correlationId": "01J8Z6Q4B7",
            "level": "info",
            "progress": {"phase": "weights", "index": 5, "total": 5, "status": "running"},
            "data": {"received": 10, "total": 100},
        },
    ),
    (
        "11 error",
        OpenAIErrorBody,
        {
            "error": {
                "message": 'no voice "alloy"',
                "type": "invalid_request_error",
                "param": "voice",
                "code": "unknown_voice",
                "retryable": False,
            }
        },
    ),
]

SPEAK = {
    "text": "Right, that was The Verve Pipe. [laugh] Nobody warned me about that intro.",
    "voice": "narrator_02",
    "variant": "turbo",
    "format": "opus",
    "delivery": "hushed",
    "params": {"exaggeration": 0.7},
    "seed": 20260917,
    "stream": True,
}
DIALOGUE = {
    "turns": [
        {"speaker": "a", "text": "Did you hear that? [gasp]"},
        {"speaker": "b", "text": "[laugh] It's only the cat."},
        {"speaker": "a", "text": "It is never only the cat."},
    ],
    "voices": {"a": "narrator_02"},
    "variant": "1.6b",
    "format": "wav",
    "seed": 7,
    "stream": False,
}

ASKED: list[tuple[str, type[Request], dict[str, Any]]] = [
    ("6 speak", SpeakRequest, SPEAK),
    ("6 speak to the core", PublicSpeakRequest, SPEAK | {"engine": "e", "keepAliveSeconds": -1}),
    ("6 least speak", SpeakRequest, {"text": "x"}),
    ("6 dialogue", DialogueRequest, DIALOGUE),
    ("6 dialogue to the core", PublicDialogueRequest, DIALOGUE | {"keepAliveSeconds": 0}),
    ("8 load", LoadRequest, {}),
    ("10 pull", PullRequest, {"variant": "turbo"}),
    (
        "11 speech",
        OpenAISpeechRequest,
        {
            "model": "chatterbox:turbo",
            "input": "Right, that was The Verve Pipe. [laugh]",
            "voice": "narrator_02",
            "response_format": "opus",
        },
    ),
]


@pytest.mark.parametrize(("name", "shape", "document"), READ, ids=lambda part: str(part)[:24])
def test_a_document_of_the_contract_is_read_and_written_as_it_was(
    name: str, shape: type[Shape], document: dict[str, Any]
) -> None:
    read = read_shape(shape, json.dumps(document))
    assert read.to_object() == document, name
    assert json.loads(read.to_json()) == document


@pytest.mark.parametrize(("name", "model", "body"), ASKED, ids=lambda part: str(part)[:24])
def test_a_request_of_the_contract_is_read_and_written_as_it_was(
    name: str, model: type[Request], body: dict[str, Any]
) -> None:
    assert parse_request(model, json.dumps(body)).to_object() == body, name


def test_the_first_variant_is_the_default_one() -> None:
    read = read_shape(Capabilities, json.dumps(CAPABILITIES))
    assert read.default_variant == "turbo"
    assert list(read.variants) == ["turbo", "original", "multilingual", "1.6b"]


def test_a_reader_takes_cues_dials_and_devices_that_it_does_not_know() -> None:
    variant = {"cues": ["hum"], "deliveries": ["sung"], "dials": {"warmth": EXAGGERATION}}
    document = IDLE | {"variants": {"next": variant}, "device": {"type": "npu", "name": "n"}}
    read = read_shape(Capabilities, json.dumps(document | {"extra": [1]}))
    assert read.to_object() == document


def test_a_variant_says_its_limit_or_has_the_contract_s() -> None:
    read = read_shape(Capabilities, json.dumps(CAPABILITIES))
    assert read.variants["turbo"].character_limit == 4096
    assert read.current is not None
    assert read.current.model_copy(update={"max_characters": 7}).character_limit == 7
