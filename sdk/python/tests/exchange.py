"""A scripted exchange on a real socket: it answers as it is told, and keeps what it heard."""

from __future__ import annotations

import json
import socket
import struct
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Dict, List, Mapping, Optional, Type, Union


@dataclass
class Heard:
    """A request as it arrived."""

    method: str
    path: str
    headers: Dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Says:
    """An answer; or none: the connection is reset, or nothing comes until `released`."""

    status: int = 200
    body: Union[bytes, Mapping[str, Any]] = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    reset: bool = False
    short: bool = False
    """The body ends before its length."""
    drip: bool = False
    """The body comes a byte at a time, without an end."""
    wait: Optional[threading.Event] = None


class Exchange:
    """Answers requests of a path one after the other with what `tell` was given for it; the last
    answer stands. `requests` has what came."""

    def __init__(self) -> None:
        self.requests: List[Heard] = []
        self._answers: Dict[str, List[Says]] = {}
        self._lock = threading.Lock()
        self.closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                heard = Heard(self.command, self.path, {}, self.rfile.read(length))
                heard.headers = {k.lower(): v for k, v in self.headers.items()}
                says = outer._next(heard)
                if says.wait is not None:
                    says.wait.wait(30)
                if says.reset:
                    linger = struct.pack("ii", 1, 0)
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    self.close_connection = True
                    self.connection.close()
                    return
                self._say(says)

            def _say(self, says: Says) -> None:
                body = says.body if isinstance(says.body, bytes) else json.dumps(says.body).encode()
                self.send_response(says.status)
                for name, value in says.headers.items():
                    self.send_header(name, value)
                length = len(body) + (1 << 20 if says.short or says.drip else 0)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(body)
                while says.drip and not outer.closing.wait(0.05):
                    self.wfile.write(b" ")
                self.close_connection = says.short or says.drip

            do_GET = do_POST = handle_any

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing: the tests say what failed."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                """A client that goes away is part of the tests."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def tell(self, path: str, *answers: Says) -> None:
        """What is answered to requests of the path from now on."""
        with self._lock:
            self._answers[path] = list(answers)

    def of(self, path: str) -> List[Heard]:
        """The requests that a path has had."""
        return [heard for heard in self.requests if heard.path == path]

    def _next(self, heard: Heard) -> Says:
        with self._lock:
            self.requests.append(heard)
            answers = self._answers.get(heard.path)
            if not answers:
                return Says(404, {"error": "not_found", "message": "nothing here", "request_id": "req_404"})
            return answers.pop(0) if len(answers) > 1 else answers[0]

    def __enter__(self) -> Exchange:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


TOKEN = {"access_token": "pp_one", "token_type": "Bearer", "expires_in": 3600, "scope": "ping post"}
TOKEN_TWO = dict(TOKEN, access_token="pp_two")
NO_BID = {"auction_id": "a1", "bid": None, "reject_reason": "no_bid", "reject_detail": "nobody"}
PING = {"auction_id": "a1", "vertical": "auto", "state": "CA", "tcpa_consent": True}
LEAD: Dict[str, Any] = {
    "flo_campaign_id": "cmp_auto",
    "flo_supplier_id": "sup_acme",
    "first_name": "Annabel",
    "last_name": "Canaryson",
    "phone": "+14155550123",
    "email": "annabel.canary@example.com",
}
SOLD = {
    "data": {
        "id": "lead_1",
        "status": "ACCEPTED",
        "buyer_id": "buy_blue",
        "campaign_id": "cmp_auto",
        "price": {"amount": 10.123456, "currency": "USD"},
    }
}


def error(status: int, code: str, **more: Any) -> Says:
    headers: Dict[str, str] = more.pop("headers", {})
    body = {"error": code, "message": "why", "request_id": "req_1", **more}
    return Says(status, body, headers)
