"""JSON in the exchange's form.

Reading uses the standard library. Its writer does not support decimals, so this module writes
bodies. Money is read from the shortest digits of a double. They equal the sent digits, because the
contract allows at most thirteen.
"""

from __future__ import annotations

import json
import math
import re
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Dict, List, Mapping, Sequence, Tuple

MAX_DEPTH = 32
"""Maximum nesting of a body in the contract."""

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


class Malformed(ValueError):
    """The bytes are not JSON in the contract's form. The message never quotes the body."""


def encode(value: Any) -> bytes:
    """Encodes the value as compact JSON.

    Accepts the standard library's types, Decimals, datetimes with a time zone, and objects with
    `to_dict`. Raises ValueError for a number that is not finite or a time without a zone, and
    TypeError for other types.
    """
    parts: List[str] = []
    _write(value, parts, 0)
    return "".join(parts).encode()


def _write(value: Any, parts: List[str], depth: int) -> None:
    if depth > 100:
        raise ValueError("a body nested deeper than 100, or that contains itself")
    if value is None or isinstance(value, (bool, int)):
        parts.append(json.dumps(value))
    elif isinstance(value, str):
        parts.append(json.dumps(str(value)))
    elif isinstance(value, (float, Decimal)):
        parts.append(_number(value))
    elif isinstance(value, datetime):
        parts.append('"' + time_text(value) + '"')
    elif isinstance(value, Mapping):
        _write_object(value, parts, depth)
    elif isinstance(value, (bytes, bytearray)):
        raise TypeError("bytes cannot be sent as JSON")
    elif isinstance(value, Sequence):
        parts.append("[")
        for i, item in enumerate(value):
            if i:
                parts.append(",")
            _write(item, parts, depth + 1)
        parts.append("]")
    elif hasattr(value, "to_dict"):
        _write(value.to_dict(), parts, depth)
    else:
        raise TypeError(f"a {type(value).__name__} cannot be sent as JSON")


def _write_object(value: Mapping[Any, Any], parts: List[str], depth: int) -> None:
    parts.append("{")
    for i, (name, member) in enumerate(value.items()):
        if not isinstance(name, str):
            raise TypeError(f"a member's name is a {type(name).__name__}, and no string")
        parts.append(("," if i else "") + json.dumps(str(name)) + ":")
        _write(member, parts, depth + 1)
    parts.append("}")


def _number(value: Any) -> str:
    if not math.isfinite(value):
        raise ValueError("a number that is not finite cannot be sent as JSON")
    # Without an exponent, because some readers do not support one.
    return format(value, "f") if isinstance(value, Decimal) else json.dumps(value)


def decode(body: bytes) -> Any:
    """Decodes the bytes. Like the exchange, it raises Malformed for duplicate members, nesting over 32
    and numbers that a double cannot hold."""
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_members,
            parse_float=_finite,
            parse_constant=_constant,
        )
    except Malformed:
        raise
    except RecursionError:
        raise Malformed("nested too deep") from None
    except UnicodeDecodeError:
        raise Malformed("not UTF-8") from None
    except json.JSONDecodeError as e:
        raise Malformed(f"not JSON: {e.msg} at character {e.pos}") from None
    except ValueError:
        raise Malformed("a number with too many digits") from None
    if _depth(value) > MAX_DEPTH:
        raise Malformed(f"nested deeper than {MAX_DEPTH}")
    return value


def _members(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise Malformed("a member is given twice")
    return members


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise Malformed("a number that is too large")
    return number


def _constant(text: str) -> Any:
    raise Malformed("not JSON: NaN or Infinity")


def _depth(value: Any) -> int:
    """Nesting of the arrays and objects in value. Stops one level above the limit."""
    level, layer = 0, [value]
    while layer and level <= MAX_DEPTH:
        deeper: List[Any] = []
        for item in layer:
            if isinstance(item, dict):
                deeper.append(item.values())
            elif isinstance(item, list):
                deeper.append(item)
        if not deeper:
            return level
        level += 1
        layer = [member for group in deeper for member in group]
    return level


def time_text(at: datetime) -> str:
    """Formats the instant by RFC 3339 in UTC, with as many decimals as it needs. Raises ValueError if
    it has no time zone."""
    if at.tzinfo is None:
        raise ValueError("a time without a time zone could be any hour: give it one")
    at = at.astimezone(timezone.utc)
    text = at.replace(microsecond=0, tzinfo=None).isoformat()
    if at.microsecond:
        text += f".{at.microsecond:06d}".rstrip("0")
    return text + "Z"


def parse_time(text: str) -> datetime:
    """Parses an RFC 3339 time, in UTC, truncated to microseconds. Raises ValueError."""
    found = _TIME.fullmatch(text)
    if found is None:
        raise ValueError("not a time as RFC 3339 writes it")
    day, clock, fraction, zone = found.groups()
    at = datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=timezone.utc)
    at += timedelta(microseconds=int(((fraction or "") + "000000")[:6]))
    if zone not in "Zz":
        hours, minutes = int(zone[1:3]), int(zone[4:])
        if hours > 23 or minutes > 59:
            raise ValueError("not an offset as RFC 3339 writes it")
        offset = timedelta(hours=hours, minutes=minutes)
        try:
            at = at - offset if zone[0] == "+" else at + offset
        except OverflowError:
            raise ValueError("not a time between the years 1 and 9999") from None
    return at
