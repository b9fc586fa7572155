"""Stores the answers to posts, so that a repeat gets the first answer."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Callable, Optional, Protocol, Tuple


@dataclass(frozen=True)
class StoredAnswer:
    """A sent answer. It contains no contact data."""

    fingerprint: str
    """The hash of the request's body. The same key with another body is the sender's error."""
    status: int
    body: bytes
    request_id: str


class AnswerStore(Protocol):
    """Stores answers by Idempotency-Key for a day or longer. Must be safe for several threads.

    Several processes that serve one buyer should share a store, such as a table or Redis. The answer
    must be stored when `put` returns. If a method raises, the post gets a 500 and the exchange sends
    it again.
    """

    def get(self, key: str) -> Optional[StoredAnswer]: ...

    def put(self, key: str, answer: StoredAnswer) -> None: ...


class MemoryStore:
    """A store in memory. It drops the oldest answers above a limit, and all at the end of the process."""

    def __init__(
        self,
        max_answers: int = 100_000,
        max_age: float = 24 * 3600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_answers = max_answers
        self._max_age = max_age
        self._clock = clock
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, Tuple[float, StoredAnswer]] = OrderedDict()

    def get(self, key: str) -> Optional[StoredAnswer]:
        with self._lock:
            self._drop_old()
            kept = self._answers.get(key)
            return kept[1] if kept else None

    def put(self, key: str, answer: StoredAnswer) -> None:
        with self._lock:
            self._answers[key] = (self._clock(), answer)
            self._answers.move_to_end(key)
            self._drop_old()

    def __len__(self) -> int:
        return len(self._answers)

    def _drop_old(self) -> None:
        oldest = self._clock() - self._max_age
        while self._answers:
            key, (at, _) = next(iter(self._answers.items()))
            if at > oldest and len(self._answers) <= self._max_answers:
                return
            del self._answers[key]
