"""Native PCM becomes wav, mp3, opus, flac or pcm, piece by piece.

In the worker: `pool` (what callers use), `encoder`, `process`, `wav`, `formats`.
In the encoder child, never imported by the worker: `child`, `codec`, `sndfile`, `mp3`,
`resample`.
Pure, in both: `framing`, `rates`, `mp3_info`.

Empty of imports on purpose: the child starts through this package and needs none of the worker's
libraries.
"""
