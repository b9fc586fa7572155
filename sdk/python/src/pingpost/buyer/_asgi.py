"""A buyer's endpoint as an ASGI application, for Starlette, FastAPI, uvicorn and others."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
from typing import Any, Awaitable, Callable, Dict, MutableMapping, Optional, Set, Union

from pingpost.buyer._buyer import Desk, Join, Late, Run, Work
from pingpost.buyer._pools import Pools
from pingpost.buyer._request import MAX_BODY, Answer, Head, refuse_head

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
SendMessage = Callable[[Message], Awaitable[None]]


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a call returns an awaitable."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004  a callable object may be async
    )


class AsgiApp:
    """Async functions run in the event loop, other functions in threads."""

    def __init__(self, desk: Desk, pools: Pools) -> None:
        self._desk = desk
        self._pools = pools
        self._posts: Set[asyncio.Task[Answer]] = set()  # keeps tasks from garbage collection

    async def __call__(self, scope: Scope, receive: Receive, send: SendMessage) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1000})

    async def _http(self, scope: Scope, receive: Receive, send: SendMessage) -> None:
        head = Head(scope["method"].upper(), _path(scope), _headers(scope))
        answer = refuse_head(head, self._desk.credential)
        if answer is None:
            try:
                body = await _body(receive)
            except EOFError:
                return  # the client has disconnected
            answer = await self._decide(head, body)
        headers = [(k.lower().encode("latin-1"), v.encode("latin-1")) for k, v in answer.headers.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if head.method == "HEAD" else answer.body})

    async def _decide(self, head: Head, body: Optional[bytes]) -> Answer:
        work = asyncio.ensure_future(self._do(self._desk.work(head, body)))
        if head.path != "/v1/post":
            return await work
        self._posts.add(work)
        work.add_done_callback(self._posts.discard)
        return await asyncio.shield(work)

    async def _do(self, work: Work) -> Answer:
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
                said = await self._step(step)
            except Exception as e:
                raised = e
            except BaseException:
                work.close()
                raise

    async def _step(self, step: Union[Run, Join]) -> Any:
        if isinstance(step, Join):
            return await asyncio.shield(asyncio.wrap_future(step.flight.answer))
        if step.here:
            return step.function(*step.arguments)
        running = self._start(step)
        done, _ = await asyncio.wait([running], timeout=step.seconds)
        if not done:
            running.cancel()
            raise Late
        return running.result()

    def _start(self, step: Run) -> asyncio.Future[Any]:
        if is_async(step.function):
            awaited: Awaitable[Any] = step.function(*step.arguments)
            return asyncio.ensure_future(awaited)
        call = functools.partial(contextvars.copy_context().run, step.function, *step.arguments)
        pool = self._pools.of(step.pool)
        running: asyncio.Future[Any] = asyncio.get_running_loop().run_in_executor(pool, call)
        return running


def _path(scope: Scope) -> str:
    """The path below the mount point."""
    path, root = str(scope["path"]), str(scope.get("root_path") or "")
    if root and path.startswith(root.rstrip("/") + "/"):
        return path[len(root.rstrip("/")) :]
    return path


def _headers(scope: Scope) -> Dict[str, str]:
    headers: Dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]},{text}" if key in headers else text
    return headers


async def _body(receive: Receive) -> Optional[bytes]:
    """Reads the body. None if it is too large. Raises EOFError if the client disconnected."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise EOFError
        body += message.get("body", b"")
        if len(body) > MAX_BODY:
            return None
        if not message.get("more_body", False):
            return bytes(body)


async def _lifespan(receive: Receive, send: SendMessage) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
