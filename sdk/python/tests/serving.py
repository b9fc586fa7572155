"""Buyers' endpoints under real servers of both kinds."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import Any, Iterator
from wsgiref.validate import validator

import uvicorn
import waitress.server

import pingpost


@contextlib.contextmanager
def served(buyer: pingpost.Buyer, flavor: str) -> Iterator[str]:
    """Serves the buyer as the flavor says, at the address given."""
    application: Any = validator(buyer.wsgi) if flavor == "wsgi" else buyer.asgi
    with serving(application, flavor) as url:
        yield url


@contextlib.contextmanager
def serving(application: Any, flavor: str) -> Iterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    if flavor == "wsgi":
        server = waitress.server.create_server(application, sockets=[listener], threads=16)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        yield url
        # In the loop's own thread: closed from here it would find its socket gone.
        server.trigger.pull_trigger(server.close)
        thread.join(30)
        server.task_dispatcher.shutdown()
    else:
        config = uvicorn.Config(application, log_config=None, lifespan="on", ws="none")
        asgi = uvicorn.Server(config)
        thread = threading.Thread(target=asgi.run, args=([listener],), daemon=True)
        thread.start()
        while not asgi.started:
            time.sleep(0.005)
        yield url
        asgi.should_exit = True
        thread.join(30)
    listener.close()
