"""`GET /metrics`, for a monitor that reads Prometheus's text format. Open, like `/health`."""

from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rhapsode.metrics import Metrics

_HEADERS: Final = {"content-type": CONTENT_TYPE_LATEST}


async def show_metrics(request: Request) -> Response:
    """Answers from what is known: starts nothing and waits for nothing."""
    metrics: Metrics = request.app.state.metrics
    return Response(metrics.exposition(), headers=_HEADERS)


routes = [Route("/metrics", show_metrics)]
