"""Says whether a worker speaks the Rhapsode worker protocol."""

from rhapsode_conform.check import Check, Need
from rhapsode_conform.checks import CHECKS
from rhapsode_conform.first_look import Unreachable
from rhapsode_conform.manifest import MANIFEST, UNSEEN
from rhapsode_conform.outcome import Outcome, Verdict
from rhapsode_conform.patience import Patience
from rhapsode_conform.promise import Level, Promise
from rhapsode_conform.report import as_json, as_junit
from rhapsode_conform.result import Report, Result
from rhapsode_conform.runner import Options, check_worker
from rhapsode_conform.target import Target, parse_target

__all__ = [
    "CHECKS",
    "MANIFEST",
    "UNSEEN",
    "Check",
    "Level",
    "Need",
    "Options",
    "Outcome",
    "Patience",
    "Promise",
    "Report",
    "Result",
    "Target",
    "Unreachable",
    "Verdict",
    "as_json",
    "as_junit",
    "check_worker",
    "parse_target",
]
