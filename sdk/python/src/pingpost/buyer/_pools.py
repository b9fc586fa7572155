"""The thread pools for a buyer's functions."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Dict


class Pools:
    """One pool for bids and one for posts, so that slow posts take no threads from bids. Threads start
    on demand and stay."""

    def __init__(self, threads: int) -> None:
        if threads < 1:
            raise ValueError("threads is 1 or more")
        self._threads = threads
        self._lock = threading.Lock()
        self._pools: Dict[str, ThreadPoolExecutor] = {}

    def of(self, name: str) -> ThreadPoolExecutor:
        with self._lock:
            if name not in self._pools:
                self._pools[name] = ThreadPoolExecutor(self._threads, thread_name_prefix=f"pingpost-{name}")
            return self._pools[name]
