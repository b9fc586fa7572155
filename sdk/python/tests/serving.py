"""Buyers' endpoints under real servers of both kinds."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import Any, Generator
from wsgiref.validate import validator

import cheroot.wsgi
import uvicorn

import pingpost


@contextlib.contextmanager
def served(buyer: pingpost.Buyer, flavor: str) -> Generator[str, None, None]:
    """Serves the buyer as the flavor says, at the address given."""
    application: Any = validator(buyer.wsgi) if flavor == "wsgi" else buyer.asgi
    with serving(application, flavor) as url:
        yield url


@contextlib.contextmanager
def serving(application: Any, flavor: str) -> Generator[str, None, None]:
    """Serves any application of the flavor on a socket of its own."""
    if flavor == "wsgi":
        server = cheroot.wsgi.Server(("127.0.0.1", 0), application, numthreads=8)
        server.prepare()
        thread = threading.Thread(target=server.serve, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.bind_addr[1]}"
        finally:
            server.stop()
            thread.join(30)
        return
    listener = socket.create_server(("127.0.0.1", 0))
    asgi = uvicorn.Server(uvicorn.Config(application, log_config=None, lifespan="on", ws="none"))
    thread = threading.Thread(target=asgi.run, args=([listener],), daemon=True)
    thread.start()
    while not asgi.started:
        time.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        asgi.should_exit = True
        thread.join(30)
        listener.close()
