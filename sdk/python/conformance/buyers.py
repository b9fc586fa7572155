"""The buyers' endpoints that the suite asks for: real servers around the SDK's Buyer."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from datetime import datetime
from typing import Any, Callable, Dict, List, Mapping, Tuple, Union

import cheroot.wsgi
import uvicorn

import pingpost
from pingpost.models import LeadDelivery, PingRequest

FLAVORS = ("wsgi", "asgi")

BidAnswer = Union[pingpost.Bid, pingpost.NoBid]
PostAnswer = Union[str, pingpost.Refusal]


class Scripted:
    """The two functions of one buyer, as its script has them, and what they were given."""

    def __init__(self, script: Mapping[str, Any]) -> None:
        self.script = script
        self.pings: List[Any] = []
        self.posts: List[Any] = []
        self.stop: Callable[[], None] = lambda: None

    def bid(self, ping: PingRequest) -> BidAnswer:
        script, seconds = self._ping(ping)
        time.sleep(seconds)
        return self._bid(script)

    def post(self, sent: LeadDelivery) -> PostAnswer:
        script, seconds = self._post(sent)
        time.sleep(seconds)
        return self._receipt(script)

    async def bid_async(self, ping: PingRequest) -> BidAnswer:
        script, seconds = self._ping(ping)
        await asyncio.sleep(seconds)
        return self._bid(script)

    async def post_async(self, sent: LeadDelivery) -> PostAnswer:
        script, seconds = self._post(sent)
        await asyncio.sleep(seconds)
        return self._receipt(script)

    def _ping(self, ping: PingRequest) -> Tuple[Mapping[str, Any], float]:
        self.pings.append(ping.to_dict())
        return self.script, self.script.get("bid_sleep_seconds", self.script.get("sleep_seconds", 0))

    def _post(self, sent: LeadDelivery) -> Tuple[Mapping[str, Any], float]:
        self.posts.append(sent.to_dict())
        return self.script, self.script.get("post_sleep_seconds", self.script.get("sleep_seconds", 0))

    def _bid(self, script: Mapping[str, Any]) -> BidAnswer:
        if script.get("raise") or script.get("bid_raise"):
            raise RuntimeError("annabel.canary@example.com +14155550123")
        if "no_bid" in script:
            return pingpost.NoBid(script["no_bid"]["reason"], script["no_bid"].get("detail"))
        bid = script["bid"]
        until = bid.get("valid_until")
        return pingpost.Bid(
            bid["amount"],
            currency=bid.get("currency"),
            token=bid.get("token"),
            valid_until=datetime.fromisoformat(until.replace("Z", "+00:00")) if until else None,
        )

    def _receipt(self, script: Mapping[str, Any]) -> PostAnswer:
        if script.get("raise") or script.get("post_raise"):
            raise RuntimeError("annabel.canary@example.com +14155550123")
        if "refuse" in script:
            return pingpost.Refusal(script["refuse"]["reason"])
        lead_id: str = script["post"]["lead_id"]
        return lead_id


class Buyers:
    """Those that were served, by name."""

    def __init__(self) -> None:
        self._buyers: Dict[str, Scripted] = {}

    def do(self, request: Mapping[str, Any]) -> Any:
        op, name = request["op"], request["buyer"]
        if op == "buyer.serve":
            scripted = self._buyers[name] = Scripted(request["script"])
            return {"url": serve(scripted, request)}
        buyer = self._buyers[name]
        if op == "buyer.script":
            buyer.script = request["script"]
            return {}
        if op == "buyer.received":
            return {
                "pings": buyer.pings,
                "posts": buyer.posts,
                "bid_calls": len(buyer.pings),
                "post_calls": len(buyer.posts),
            }
        if op == "buyer.stop":
            self._buyers.pop(name).stop()
            return {}
        raise KeyError(f"no such op: {op}")


def serve(scripted: Scripted, request: Mapping[str, Any]) -> str:
    """Serves the buyer on a socket of its own, and tells where."""
    flavor, shown, prefix = request["flavor"], request.get("credential"), request.get("prefix", "")
    credential = pingpost.Credential(**shown) if shown else None
    if flavor == "wsgi":
        application = pingpost.Buyer(scripted.bid, scripted.post, credential).wsgi
        dispatcher: Any = cheroot.wsgi.PathInfoDispatcher
        mounted = dispatcher({prefix or "/": application})
        wsgi = cheroot.wsgi.Server(("127.0.0.1", 0), mounted, numthreads=8)
        wsgi.prepare()
        threading.Thread(target=wsgi.serve, daemon=True).start()
        scripted.stop = wsgi.stop
        return f"http://127.0.0.1:{wsgi.bind_addr[1]}{prefix}"
    if flavor != "asgi":
        raise ValueError(f"no such flavor: {flavor}")
    buyer = pingpost.Buyer(scripted.bid_async, scripted.post_async, credential)

    async def asgi(scope: Any, receive: Any, send: Any) -> None:
        await buyer.asgi(dict(scope, root_path=prefix), receive, send)

    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(asgi, log_config=None, log_level="error"))
    threading.Thread(target=server.run, args=([listener],), daemon=True).start()

    def stop() -> None:
        server.should_exit = True

    scripted.stop = stop
    return f"http://127.0.0.1:{listener.getsockname()[1]}{prefix}"
