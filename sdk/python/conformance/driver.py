"""Does with this SDK what the shared conformance suite says, over lines of JSON.

sdk/conformance/PROTOCOL.md has the protocol. The calls go through Client, or through AsyncClient
where PINGPOST_DRIVER is "async".
"""

from __future__ import annotations

import asyncio
import base64
import contextvars
import json
import os
import sys
import threading
import traceback
from typing import Any, Dict, List, Mapping, Type

from buyers import FLAVORS, Buyers

import pingpost
from pingpost import models

REQUESTS: Dict[str, Type[pingpost.Model]] = {
    "ingest_lead": models.IngestRequest,
    "check_availability": models.AvailabilityRequest,
    "send_ping": models.PingRequest,
    "send_post": models.PostRequest,
    "report_status": models.StatusChange,
    "report_statuses": models.StatusBatch,
    "seed_leads": models.SeedRequest,
    "create_token": models.TokenRequest,
}
KINDS: Dict[str, Type[pingpost.ApiError]] = {
    "unauthorized": pingpost.Unauthorized,
    "forbidden": pingpost.Forbidden,
    "not_found": pingpost.NotFound,
    "conflict": pingpost.Conflict,
    "expired": pingpost.Expired,
    "invalid_request": pingpost.InvalidRequest,
    "rate_limited": pingpost.RateLimited,
    "server_error": pingpost.ServerError,
}
METHODS = [*REQUESTS, "get_lead", "get_supplied_lead"]

slept: contextvars.ContextVar[List[float]] = contextvars.ContextVar("slept")


class Driver:
    """The clients and buyers that the suite has made, by their names."""

    def __init__(self, awaiting: bool) -> None:
        self._awaiting = awaiting
        self._loop = asyncio.new_event_loop()
        if awaiting:
            threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._clients: Dict[str, Any] = {}
        self._buyers = Buyers()

    def do(self, request: Mapping[str, Any]) -> Any:
        op = request["op"]
        if op == "describe":
            return {
                "language": "python",
                "sdk_version": pingpost.__version__,
                "flavors": list(FLAVORS),
                "methods": METHODS,
                "features": ["errors.is", "errors.description", "buyer.prefix"],
            }
        if op == "client.new":
            self._clients[request["client"]] = self._client(request)
            return {}
        if op == "call":
            return self._call(request)
        if op == "webhook.verify":
            return verify(request)
        if op.startswith("buyer."):
            return self._buyers.do(request)
        raise KeyError(f"no such op: {op}")

    def _client(self, request: Mapping[str, Any]) -> Any:
        names = ("api_key", "auth_url", "client_id", "client_secret", "max_retries", "scopes", "token")
        options = {name: request[name] for name in names if request.get(name) is not None}
        if request.get("timeout_seconds") is not None:
            options["timeout"] = request["timeout_seconds"]
        if self._awaiting:
            return pingpost.AsyncClient(request["base_url"], sleep=note_async, **options)
        return pingpost.Client(request["base_url"], sleep=note, **options)

    def _call(self, request: Mapping[str, Any]) -> Any:
        method = request["method"]
        call = getattr(self._clients[request["client"]], method)
        positional: List[Any] = []
        if request.get("lead_id") is not None:
            positional.append(request["lead_id"])
        if method in REQUESTS:
            positional.append(written(REQUESTS[method], request.get("body")))
        options = {
            name: request[name] for name in ("idempotency_key", "test") if request.get(name) is not None
        }
        if request.get("timeout_seconds") is not None:
            options["timeout"] = request["timeout_seconds"]
        if self._awaiting:
            answer = asyncio.run_coroutine_threadsafe(call(*positional, **options), self._loop).result()
        else:
            answer = call(*positional, **options)
        return told(answer)


def written(kind: Type[pingpost.Model], body: Any) -> Any:
    """The request as a model, or as it is where no model could be made of it: the exchange is to
    judge it, not we."""
    try:
        return kind.from_dict(body)
    except pingpost.ShapeError:
        return body


def told(answer: pingpost.Model) -> Dict[str, Any]:
    meta = answer.meta
    result: Dict[str, Any] = {"body": answer, "status": meta.status, "replayed": meta.replayed}
    if meta.request_id is not None:
        result["request_id"] = meta.request_id
    if meta.idempotency_key is not None:
        result["idempotency_key"] = meta.idempotency_key
    if meta.rate_limit is not None:
        limit = meta.rate_limit
        result["limit"] = {"limit": limit.limit, "remaining": limit.remaining, "reset": limit.reset}
    return result


def verify(request: Mapping[str, Any]) -> Any:
    event = pingpost.verify_webhook(
        base64.b64decode(request["body_base64"]),
        request["headers"],
        request["secrets"],
        tolerance=request.get("tolerance_seconds", 300),
        now=request.get("now"),
    )
    return {"event": event}


def note(seconds: float) -> None:
    slept.get().append(seconds)


async def note_async(seconds: float) -> None:
    slept.get().append(seconds)


def failure(error: BaseException) -> Dict[str, Any]:
    """The error as the protocol has it."""
    said: Dict[str, Any] = {"message": str(error)}
    if isinstance(error, pingpost.ApiError):
        said.update(kind="api", status=error.status)
        said["is"] = [name for name, kind in KINDS.items() if isinstance(error, kind)]
        if error.error_description is not None:
            said["description"] = error.error_description
        for name in ("request_id", "retry_after"):
            if getattr(error, name) is not None:
                said[name] = getattr(error, name)
        if error.code:
            said["code"] = error.code
        if error.field_errors:
            said["field_errors"] = error.field_errors
    elif isinstance(error, pingpost.TimeoutError):
        said["kind"] = "timeout"
    elif isinstance(error, pingpost.TransportError):
        said["kind"] = "transport"
    elif isinstance(error, pingpost.SignatureError):
        said["kind"] = "signature"
    elif isinstance(error, (ValueError, TypeError)):
        said["kind"] = "usage"
    else:
        traceback.print_exception(type(error), error, error.__traceback__)
        said["kind"] = f"none of the SDK's: {type(error).__name__}"
    key = getattr(error, "idempotency_key", None)
    return dict(said, idempotency_key=key) if key is not None else said


def main() -> None:
    driver = Driver(os.environ.get("PINGPOST_DRIVER") == "async")
    speaking = threading.Lock()
    open_requests: List[threading.Thread] = []

    def answer(request: Mapping[str, Any]) -> None:
        waits: List[float] = []
        slept.set(waits)
        said: Dict[str, Any] = {"id": request["id"]}
        try:
            said["result"] = driver.do(request)
        except BaseException as e:
            said["error"] = failure(e)
        if waits:
            said["slept"] = waits
        with speaking:
            sys.stdout.write(pingpost.to_json(said).decode() + "\n")
            sys.stdout.flush()

    for line in sys.stdin:
        request = json.loads(line)
        if request.get("async"):
            thread = threading.Thread(target=answer, args=(request,))
            thread.start()
            open_requests.append(thread)
        else:
            answer(request)
    for thread in open_requests:
        thread.join()
    sys.stdout.flush()
    os._exit(0)  # functions that a script lets sleep would hold the process


if __name__ == "__main__":
    main()
