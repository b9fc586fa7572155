"""The processes that the document is tried on: an exchange of two sandboxes, a buyer, and
a receiver of webhooks."""

from __future__ import annotations

import base64
import json
import re
import secrets
import signal
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PATIENCE = 60  # seconds until a process has to be there


class Process:
    """One that runs; what it prints goes to a file, and its first lines are read from there."""

    def __init__(self, place: Path, name: str, command: list[str], env: dict[str, str]) -> None:
        self.name, self.log = name, place / f"{name}.log"
        with self.log.open("wb") as out:
            self._process = subprocess.Popen(command, env=env, stdout=out, stderr=subprocess.STDOUT)

    def says(self, pattern: str) -> str:
        """Waits until it has printed a line with the pattern, and returns the first group."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if found := re.search(pattern, self.log.read_text("utf-8", "replace")):
                return found[1]
            if self._process.poll() is not None:
                raise RuntimeError(f"{self.name} has ended:\n{self.log.read_text('utf-8', 'replace')}")
            time.sleep(0.01)
        raise RuntimeError(f"{self.name} has not said {pattern}:\n{self.log.read_text('utf-8', 'replace')}")

    def stop(self) -> int:
        """Ends it in order, and returns its exit code."""
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


class World:
    """All of them, started and ended."""

    def __init__(self, place: Path, program: str) -> None:
        self.place, self._program = place, program
        self._processes: list[Process] = []
        self._codes: dict[str, int] = {}
        self.addresses: dict[str, str] = {}
        self._secrets = {
            f"LIVE_{name}": secrets.token_hex(16)
            for name in ("PASSWORD", "KEY", "TOKEN", "SECRET", "OTHER_KEY", "OTHER_TOKEN", "BUYER_TOKEN")
        }
        self._secrets["LIVE_WEBHOOK"] = "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()
        self._secrets["LIVE_DATA"] = str(place / "data")

    def __enter__(self) -> World:
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._processes):
            self._codes[process.name] = process.stop()
        self._processes.clear()

    def _run(self, name: str, *arguments: str) -> Process:
        process = Process(self.place, name, [self._program, *arguments], {"PATH": "/usr/bin:/bin", **self._secrets})
        self._processes.append(process)
        return process

    def _start(self) -> None:
        listens = r"on (http://\S+)"
        self._secrets["LIVE_BUYER"] = self._run(
            "buyer", "buyer", "--listen", "127.0.0.1:0", "--bid", "8-20", "--token", self._secrets["LIVE_BUYER_TOKEN"]
        ).says(listens)
        self._secrets["LIVE_RECEIVER"] = self._run(
            "receiver", "receiver", "--listen", "127.0.0.1:0", "--secret", self._secrets["LIVE_WEBHOOK"]
        ).says(listens)
        configs = [argument for name in ("live", "narrow") for argument in ("-c", str(HERE / f"{name}.yaml"))]
        exchange = self._run("exchange", "serve", "--log-format", "json", *configs)
        for tenant in ("live", "narrow"):
            line = json.loads(exchange.says(rf'(\{{[^\n]*"msg":"serving","tenant":"{tenant}"[^\n]*\}})'))
            self.addresses[tenant] = f"http://{line['listen']}"
            self._secrets[f"LIVE_BLUE_TOKEN_{tenant}"] = self._static_token(f"http://{line['admin']}", "buy_rest")

    def _static_token(self, admin: str, buyer: str) -> str:
        """A static token of a buyer, which only the operator can make."""
        password = base64.b64encode(f"operator:{self._secrets['LIVE_PASSWORD']}".encode()).decode()
        request = urllib.request.Request(
            f"{admin}/admin/v1/buyers/{buyer}/tokens", b"{}",
            {"Authorization": f"Basic {password}", "Content-Type": "application/json"},
        )  # fmt: skip
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            made: dict[str, Any] = json.load(answer)
        return str(made["token"])

    def environment(self, tenant: str) -> dict[str, str]:
        """What the hooks have to know of one sandbox."""
        return {
            **self._secrets,
            "SCHEMATHESIS_HOOKS": str(HERE / "hooks.py"),
            "PYTHONPATH": str(HERE),
            "LIVE_TENANT": tenant,
            "LIVE_URL": self.addresses[tenant],
            "LIVE_REPORTER_TOKEN": self._secrets[f"LIVE_BLUE_TOKEN_{tenant}"],
        }

    def complaints(self) -> list[str]:
        """What the exchange has logged as an error. A request must not bring it to that."""
        text = (self.place / "exchange.log").read_text("utf-8", "replace")
        return [line for line in text.splitlines() if '"level":"ERROR"' in line or "panic" in line]
