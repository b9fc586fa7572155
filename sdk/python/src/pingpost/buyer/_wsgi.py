"""A buyer's endpoint as a WSGI application, for Flask, Django, gunicorn and others."""

from __future__ import annotations

import contextvars
from concurrent import futures
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Dict, Iterable, Optional, Union

from pingpost.buyer._buyer import Desk, Join, Late, Run, Work
from pingpost.buyer._pools import Pools
from pingpost.buyer._request import MAX_BODY, Answer, Head, error, refuse_head

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


DRAINED = 1 << 20
"""Maximum bytes to read and discard of a body that is too large."""


class WsgiApp:
    """Bids run in separate threads, so that a late one can be abandoned. Posts run in the request's
    thread."""

    def __init__(self, desk: Desk, pools: Pools) -> None:
        self._desk = desk
        self._pools = pools

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        head = Head(environ["REQUEST_METHOD"].upper(), environ.get("PATH_INFO", ""), _headers(environ))
        answer = refuse_head(head, self._desk.credential)
        if answer is None:
            try:
                body = _body(environ)
            except EOFError:
                answer = error(head, 400, "malformed_request", "the body ended early")
            else:
                answer = self._do(self._desk.work(head, body))
        start_response(f"{answer.status} {_phrase(answer.status)}", list(answer.headers.items()))
        return [] if head.method == "HEAD" else [answer.body]

    def _do(self, work: Work) -> Answer:
        said: Any = None
        raised: Optional[Exception] = None
        while True:
            try:
                step = work.send(said) if raised is None else work.throw(raised)
            except StopIteration as end:
                done: Answer = end.value
                return done
            said, raised = None, None
            try:
                said = self._step(step)
            except Exception as e:
                raised = e

    def _step(self, step: Union[Run, Join]) -> Any:
        if isinstance(step, Join):
            return step.flight.answer.result()
        if step.seconds is None:
            return step.function(*step.arguments)
        context = contextvars.copy_context()
        running = self._pools.of(step.pool).submit(context.run, step.function, *step.arguments)
        futures.wait([running], step.seconds)
        if not running.done():
            running.cancel()
            raise Late
        return running.result()


def _headers(environ: Dict[str, Any]) -> Dict[str, str]:
    headers = {
        name[5:].replace("_", "-").lower(): str(value)
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    headers["content-type"] = environ.get("CONTENT_TYPE") or ""
    return headers


def _body(environ: Dict[str, Any]) -> Optional[bytes]:
    """Reads the body. None if it is too large. Raises EOFError if it is shorter than its length."""
    text = str(environ.get("CONTENT_LENGTH") or "")
    reader = environ["wsgi.input"]
    if text.isdigit():
        length = int(text[:12])
        if length > MAX_BODY:
            _discard(reader, length)
            return None
        body = bytes(reader.read(length)) if length else b""
        if len(body) < length:
            raise EOFError
        return body
    # A chunked body. Reading without a length is safe only if the server terminates the input.
    body = b""
    while environ.get("wsgi.input_terminated") and len(body) <= MAX_BODY:
        part = reader.read(MAX_BODY + 1 - len(body))
        if not part:
            break
        body += part
    return body


def _discard(reader: Any, length: int) -> None:
    """Reads and discards a rejected body, up to DRAINED bytes. If a server closes a connection with
    unread bytes, the reset can destroy the answer before the client reads it."""
    left = min(length, DRAINED)
    while left > 0:
        part = reader.read(min(left, MAX_BODY))
        if not part:
            return
        left -= len(part)


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase
