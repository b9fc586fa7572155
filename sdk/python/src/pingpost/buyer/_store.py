"""Where answers to posts are kept, so that a repeat hears the first one."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Callable, Optional, Protocol, Tuple


@dataclass(frozen=True)
class StoredAnswer:
    """An answer as it went out. It has no contact data in it."""

    fingerprint: str
    """The hash of the request's body: the same key with another body is an error of the sender."""
    status: int
    body: bytes
    request_id: str


class AnswerStore(Protocol):
    """Keeps answers by Idempotency-Key, for a day or longer. Called from several threads.

    Several processes that serve one buyer should share one, such as a table or Redis. `put` must
    have kept the answer when it returns. Where either raises, the post is answered with 500, and
    comes again.
    """

    def get(self, key: str) -> Optional[StoredAnswer]: ...

    def put(self, key: str, answer: StoredAnswer) -> None: ...


class MemoryStore:
    """In this process's memory: a bounded number of answers, the oldest go first. A restart forgets."""

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
