"""What the contract says of texts and numbers and a schema cannot: written anew from the
contract's words, and not from the server's code."""

from __future__ import annotations

import datetime as dt
import ipaddress
import json
import re
import unicodedata
from typing import Any

# Characters of no width, which show nothing (beside Unicode's white space).
_NO_WIDTH = frozenset("\u180e\u200b\u200c\u200d\u2060\ufeff")
_SPACE = frozenset("\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | {chr(c) for c in range(0x2000, 0x200B)}


def is_blank(text: str) -> bool:
    """Nothing of it can be seen."""
    return all(c in _SPACE or c in _NO_WIDTH for c in text)


def says_nothing(value: Any) -> bool:
    """A member of this value counts as not sent."""
    return value is None or (isinstance(value, str) and is_blank(value))


def spoken(value: Any) -> Any:
    """The value without the members that count as not sent, at any depth."""
    if isinstance(value, dict):
        return {name: spoken(inner) for name, inner in value.items() if not says_nothing(inner)}
    if isinstance(value, list):
        return [spoken(inner) for inner in value]
    return value


def is_printable(text: str) -> bool:
    """Letters, marks, digits, punctuation, symbols, and the one space of ASCII."""
    return all(c == " " or unicodedata.category(c)[0] in "LMNPS" for c in text)


def size(text: str) -> int:
    """How many bytes it has as UTF-8."""
    return len(text.encode())


def longest_number(value: Any) -> int:
    """How many characters the longest number in a body has as it is sent."""
    if isinstance(value, dict):
        return max(map(longest_number, value.values()), default=0)
    if isinstance(value, list):
        return max(map(longest_number, value), default=0)
    return len(json.dumps(value)) if isinstance(value, (int, float)) else 0


def moment(text: str) -> dt.datetime | None:
    """RFC 3339 as a time; None: a year or a second that Python has not."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d+))?(?:[Zz]|([+-]\d\d:\d\d))", text)
    if not found:
        return None
    day, clock, decimals, offset = found.groups()
    try:
        return dt.datetime.fromisoformat(f"{day}T{clock}.{(decimals or '0')[:6]:0<6}{offset or '+00:00'}")
    except ValueError:
        return None


def is_ahead(text: str, seconds: float) -> bool:
    """The time is further ahead of now than so many seconds."""
    at = moment(text)
    return at is not None and _since_epoch(at) > dt.datetime.now(dt.timezone.utc).timestamp() + seconds


def is_past(text: str) -> bool:
    """The time is not to come any more."""
    at = moment(text)
    return at is not None and _since_epoch(at) <= dt.datetime.now(dt.timezone.utc).timestamp()


_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)


def _since_epoch(at: dt.datetime) -> float:
    return (at - _EPOCH).total_seconds()


def has_possible_host(address: str) -> bool:
    """Whether an https address of the document's pattern has a host and a port that there can be."""
    authority = re.split(r"[/?#]", address[len("https://") :], maxsplit=1)[0]
    host, port = re.fullmatch(r"(\[.*\]|[^:]*)(?::(\d+))?", authority).groups()  # type: ignore[union-attr]
    if port is not None and not 1 <= int(port) <= 65535:
        return False
    if not host.startswith("["):
        return len(host) <= 253
    try:
        ipaddress.IPv6Address(host[1:-1])
    except ValueError:
        return False
    return True
