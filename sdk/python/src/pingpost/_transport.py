"""One attempt over httpx, and the classification of its result."""

from __future__ import annotations

import asyncio
import time
from typing import Any, List

import httpx

from pingpost._conversation import Failure, Reply, Send

MAX_ANSWER = 64 << 20
"""Maximum bytes of an answer. The largest one, with 1,000 seeded leads, has one million."""


def send(http: httpx.Client, step: Send[Any]) -> Reply | Failure:
    """Sends the call once. The timeout covers the whole attempt: httpx limits each of its waits, and
    this function checks the time between the parts of a body."""
    deadline = time.monotonic() + step.call.timeout
    try:
        response = http.send(_request(http, step), stream=True, auth=None, follow_redirects=False)
        try:
            parts: List[bytes] = []
            size = 0
            for part in response.iter_bytes():
                parts.append(part)
                size += len(part)
                if time.monotonic() > deadline:
                    return _late(step)
                if size > MAX_ANSWER:
                    return _endless()
        finally:
            response.close()
        return Reply(response.status_code, response.headers, b"".join(parts))
    except httpx.RequestError as e:
        return _failure(step, e)


async def send_async(http: httpx.AsyncClient, step: Send[Any]) -> Reply | Failure:
    """Sends the call once, within its timeout."""
    try:
        return await asyncio.wait_for(_send_async(http, step), step.call.timeout)
    except asyncio.TimeoutError:
        return _late(step)
    except httpx.RequestError as e:
        return _failure(step, e)


async def _send_async(http: httpx.AsyncClient, step: Send[Any]) -> Reply | Failure:
    response = await http.send(_request(http, step), stream=True, auth=None, follow_redirects=False)
    try:
        parts: List[bytes] = []
        size = 0
        async for part in response.aiter_bytes():
            parts.append(part)
            size += len(part)
            if size > MAX_ANSWER:
                return _endless()
    finally:
        await response.aclose()
    return Reply(response.status_code, response.headers, b"".join(parts))


def _request(http: httpx.Client | httpx.AsyncClient, step: Send[Any]) -> httpx.Request:
    call = step.call
    return http.build_request(
        call.operation.method,
        call.url,
        headers={**call.headers, **step.credential},
        content=call.body,
        timeout=call.timeout,
    )


def _late(step: Send[Any]) -> Failure:
    return Failure(f"no answer within {step.call.timeout:g} s", timeout=True, again=True)


def _endless() -> Failure:
    return Failure(f"an answer of more than {MAX_ANSWER} bytes", timeout=False, again=False)


def _failure(step: Send[Any], error: httpx.RequestError) -> Failure:
    if isinstance(error, httpx.TimeoutException):
        return _late(step)
    if isinstance(error, (httpx.UnsupportedProtocol, httpx.LocalProtocolError)):
        # Without the error's text, which may quote a header with a credential.
        return Failure(f"{type(error).__name__}: this cannot be sent", timeout=False, again=False)
    return Failure(f"{type(error).__name__}: {error}", timeout=False, again=True)
