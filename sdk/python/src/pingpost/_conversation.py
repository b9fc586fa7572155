"""The course of one call from the first attempt to the answer, without input or output.

`converse` is a generator. It yields the next step (a request to send, seconds to wait, a token to
get) and receives the step's result. The two clients execute the steps, one with calls and one with
await, so the retry policy exists only here. (Rejected: the same loop twice, with and without
await; the copies would diverge.)
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timezone
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Generator, Generic, Mapping, Optional, TypeVar, Union

from pingpost import errors
from pingpost._meta import Meta, read_rate_limit
from pingpost._model import Model, ShapeError
from pingpost._operation import Call
from pingpost._settings import Settings
from pingpost._wire import Malformed, decode
from pingpost.models import Error

A = TypeVar("A", bound=Model)

WAITS = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each retry without a Retry-After. Up to a tenth is added at random."""

LONGEST_ASKED = 3600.0
"""Maximum wait in seconds, also with a Retry-After."""


@dataclass(frozen=True)
class Send(Generic[A]):
    """Send the call once with these additional headers. The result is a Reply or a Failure."""

    call: Call[A]
    credential: Mapping[str, str]


@dataclass(frozen=True)
class Wait:
    """Wait. The result is None."""

    seconds: float


@dataclass(frozen=True)
class GetToken:
    """Get an access token other than `refused`. The result is its text."""

    refused: Optional[str]


@dataclass(frozen=True)
class Reply:
    """The received response."""

    status: int
    headers: Mapping[str, str]
    """Names in any case."""
    body: bytes


@dataclass(frozen=True)
class Failure:
    """No readable response arrived."""

    message: str
    timeout: bool
    again: bool
    """Whether a retry may succeed."""


Step = Union[Send[Any], Wait, GetToken]


def converse(call: Call[A], settings: Settings, now: Callable[[], float]) -> Generator[Step, Any, A]:
    """Executes one call and returns its answer, or raises a PingpostError. `now` returns the time in
    Unix seconds, for a Retry-After with a date. Raises ValueError if the operation does not accept
    the client's kind of credential."""
    if not call.operation.public and call.operation.by_api_key != ("x-api-key" in settings.standing):
        wanted = "api_key" if call.operation.by_api_key else "client_id and client_secret, or with token"
        raise ValueError(f"{call.operation.path} needs a client with {wanted}")
    oauth = settings.token_request is not None and not call.operation.public
    credential = {} if call.operation.public else settings.standing
    token: Optional[str] = None
    renewed = False
    retries = 0
    while True:
        if oauth:
            if token is None:
                token = yield GetToken(None)
            credential = {"Authorization": f"Bearer {token}"}
        outcome: Union[Reply, Failure] = yield Send(call, credential)
        if isinstance(outcome, Reply) and 200 <= outcome.status < 300:
            return _answer(call, outcome)
        if oauth and not renewed and isinstance(outcome, Reply) and outcome.status == 401:
            token = yield GetToken(token)
            renewed = True
            continue
        error = _error(call, outcome, now)
        if not _again(outcome) or retries >= settings.max_retries:
            raise error
        wait = error.retry_after if isinstance(error, errors.ApiError) else None
        if wait is None:
            wait = WAITS[retries] * random.uniform(1, 1.1)  # noqa: S311  not a secret
        yield Wait(min(wait, LONGEST_ASKED))
        retries += 1
        token = None  # it may have expired meanwhile


def _again(outcome: Union[Reply, Failure]) -> bool:
    if isinstance(outcome, Failure):
        return outcome.again
    return outcome.status >= 500 or outcome.status == 429


def _answer(call: Call[A], reply: Reply) -> A:
    try:
        answer = call.operation.answer.from_dict(decode(reply.body))
    except (Malformed, ShapeError) as e:
        raise errors.ApiError(
            status=reply.status,
            message=f"the answer cannot be read: {e}",
            request_id=reply.headers.get("X-Request-Id"),
            idempotency_key=call.idempotency_key,
        ) from None
    answer.__dict__["_meta"] = Meta(
        status=reply.status,
        request_id=reply.headers.get("X-Request-Id"),
        replayed=reply.headers.get("Idempotent-Replayed") == "true",
        rate_limit=read_rate_limit(reply.headers),
        idempotency_key=call.idempotency_key,
        test=reply.headers.get("X-Pingpost-Test") == "1",
    )
    return answer


def _error(
    call: Call[Any], outcome: Union[Reply, Failure], now: Callable[[], float]
) -> Union[errors.ApiError, errors.TransportError]:
    if isinstance(outcome, Failure):
        kind = errors.TimeoutError if outcome.timeout else errors.TransportError
        return kind(outcome.message, idempotency_key=call.idempotency_key)
    told = _told(outcome.body)
    return errors.of_status(outcome.status)(
        status=outcome.status,
        code=told.error if told else "",
        message=told.message if told else "the answer is none of an exchange",
        request_id=(told.request_id if told else None) or outcome.headers.get("X-Request-Id"),
        field_errors=tuple(told.field_errors or ()) if told else (),
        reason=told.reason if told else None,
        error_description=told.error_description if told else None,
        retry_after=retry_after(outcome.headers.get("Retry-After"), now),
        idempotency_key=call.idempotency_key,
    )


def _told(body: bytes) -> Optional[Error]:
    """The error from the body. Malformed members are ignored one by one."""
    try:
        members = decode(body)
    except Malformed:
        return None
    if not isinstance(members, dict) or not isinstance(members.get("error"), str):
        return None
    members = dict({"message": "", "request_id": ""}, **members)
    for name in ("message", "request_id"):
        if not isinstance(members[name], str):
            members[name] = ""
    try:
        return Error.from_dict(members)
    except ShapeError:
        return Error(error=members["error"], message=members["message"], request_id=members["request_id"])


def retry_after(text: Optional[str], now: Callable[[], float]) -> Optional[float]:
    """The delay in seconds from a Retry-After with seconds or a date, or None."""
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:12])
    try:
        at = parsedate_to_datetime(text)
        if at.tzinfo is None:
            at = at.replace(tzinfo=timezone.utc)
        return max(0.0, at.timestamp() - now())
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
