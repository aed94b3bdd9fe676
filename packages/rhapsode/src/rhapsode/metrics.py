"""What a monitor can read of this core, in Prometheus's words."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from rhapsode.residency.held import Reason
from rhapsode.residency.manager import ResidencyManager
from rhapsode.workers.fleet import Fleet


class Metrics:
    """Every figure of one core. Reading them asks nobody."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        """Where each part of the core counts what it does."""
        self._evictions = Counter(
            "rhapsode_evictions",
            "Models that went: for room, after their keep-alive, or because an operator said so.",
            ("engine", "reason"),
            registry=self.registry,
        )

    def note_eviction(self, engine: str, reason: Reason) -> None:
        """Counts a model that goes."""
        self._evictions.labels(engine, reason).inc()

    def watch(self, fleet: Fleet, residency: ResidencyManager) -> None:
        """Adds what is read off the core's state whenever somebody asks."""
        self.registry.register(_State(fleet, residency))

    def exposition(self) -> bytes:
        """Returns all of it in the text format."""
        return generate_latest(self.registry)


class _State(Collector):
    """What is true now."""

    def __init__(self, fleet: Fleet, residency: ResidencyManager) -> None:
        self._fleet = fleet
        self._residency = residency

    def collect(self) -> Iterable[Metric]:
        report = self._residency.report()
        yield GaugeMetricFamily(
            "rhapsode_queue_length", "Requests that wait for room on the card.", report.waiting
        )
        yield GaugeMetricFamily(
            "rhapsode_resident_models_max", "Models that may be resident.", report.max
        )
        resident = GaugeMetricFamily(
            "rhapsode_resident_models", "Models on the card.", labels=("engine", "variant")
        )
        size = GaugeMetricFamily(
            "rhapsode_resident_bytes",
            "What a model takes of the card, where its worker could measure it.",
            labels=("engine", "variant"),
        )
        for model in report.models:
            resident.add_metric((model.engine, model.variant), 1)
            if model.size_bytes is not None:
                size.add_metric((model.engine, model.variant), model.size_bytes)
        yield resident
        yield size
        yield from self._of_workers()

    def _of_workers(self) -> Iterable[Metric]:
        restarts = CounterMetricFamily(
            "rhapsode_restarts", "Ends of a worker that nobody asked for.", labels=("engine",)
        )
        up = GaugeMetricFamily(
            "rhapsode_worker_up", "Whether an engine's process is up.", labels=("engine",)
        )
        for engine in self._fleet:
            worker = self._fleet.worker(engine)
            restarts.add_metric((engine,), worker.crashes)
            up.add_metric((engine,), worker.summary().process == "up")
        yield restarts
        yield up
