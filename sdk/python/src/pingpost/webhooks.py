"""Webhooks: verifies the sender and the integrity, and decodes the event."""

from __future__ import annotations

import base64
import binascii
import hmac
import time
from hashlib import sha256
from typing import Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union, cast

from pingpost._model import ShapeError
from pingpost._wire import Malformed, decode
from pingpost.errors import SignatureError
from pingpost.models import LeadEvent

Text = Union[str, bytes]
Headers = Union[Mapping[str, str], Mapping[bytes, bytes], Iterable[Tuple[Text, Text]]]

_OWN = "x-pingpost-signature"
_TRIO = ("webhook-id", "webhook-timestamp", "webhook-signature")


def verify_webhook(
    body: bytes,
    headers: Headers,
    secrets: Union[str, Sequence[str]],
    *,
    tolerance: float = 300.0,
    now: Optional[float] = None,
) -> LeadEvent:
    """Verifies a webhook of the exchange and returns its event.

    `body` has the received bytes. `headers` is a mapping or a list of pairs, with names in any case.
    `secrets` is one `whsec_…`, or several during a rotation: one match is enough. Timestamps more
    than `tolerance` seconds from `now` (Unix seconds, default: the clock) are rejected as replays.
    Of the two signature formats, every present one must be valid.

    Raises SignatureError if the verification fails; answer that with 400. Raises ValueError for a
    malformed secret. An event may arrive twice: ignore repeats by their `id`.
    """
    if not isinstance(body, (bytes, bytearray)):
        raise TypeError("body must be the received bytes; a parsed and re-encoded body has another signature")
    body = bytes(body)
    keys = [_key(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    if not keys:
        raise ValueError("a webhook is verified with at least one secret")
    found = _found(headers)
    if not found:
        raise SignatureError("the request has no signature")
    at = time.time() if now is None else now
    if _OWN in found:
        _check_own(found[_OWN], body, keys, at, tolerance)
    if len(found) > (_OWN in found):
        _check_trio(found, body, keys, at, tolerance)
    try:
        return LeadEvent.from_dict(decode(body))
    except (Malformed, ShapeError) as e:
        raise SignatureError(f"the signature is right, but the body is no event: {e}") from None


def _found(headers: Headers) -> Dict[str, str]:
    """The signature headers, by their names in lower case."""
    pairs = cast("Iterable[Tuple[Text, Text]]", headers.items() if isinstance(headers, Mapping) else headers)
    found: Dict[str, str] = {}
    for name, value in pairs:
        lower = (name.decode("latin-1") if isinstance(name, bytes) else name).lower()
        if lower != _OWN and lower not in _TRIO:
            continue
        if lower in found:
            raise SignatureError(f"the header {lower} is there twice")
        found[lower] = (value.decode("latin-1") if isinstance(value, bytes) else value).strip()
    return found


def _check_own(header: str, body: bytes, keys: List[bytes], now: float, tolerance: float) -> None:
    at = ""
    given: List[bytes] = []
    for part in header.split(","):
        name, _, value = part.strip().partition("=")
        if name == "t":
            if at:
                raise SignatureError("X-Pingpost-Signature has two times")
            at = value
        elif name == "v1":
            given.append(value.encode("utf-8", "replace"))
    _check_time(at, "X-Pingpost-Signature", now, tolerance)
    signed = at.encode() + b"." + body
    right = [hmac.new(key, signed, sha256).hexdigest().encode() for key in keys]
    _check(given, right, "X-Pingpost-Signature")


def _check_trio(found: Dict[str, str], body: bytes, keys: List[bytes], now: float, tolerance: float) -> None:
    for name in _TRIO:
        if not found.get(name):
            raise SignatureError(f"the header {name} is not there, though others of its kind are")
    name, at, signatures = (found[name] for name in _TRIO)
    _check_time(at, "webhook-timestamp", now, tolerance)
    given = [s[3:].encode("utf-8", "replace") for s in signatures.split() if s.startswith("v1,")]
    signed = f"{name}.{at}.".encode("latin-1", "replace") + body
    right = [base64.b64encode(hmac.new(key, signed, sha256).digest()) for key in keys]
    _check(given, right, "webhook-signature")


def _check_time(text: str, header: str, now: float, tolerance: float) -> None:
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise SignatureError(f"{header} has no time")
    if abs(now - int(text)) > tolerance:
        raise SignatureError(
            f"{header} has a time that is over {tolerance:g} s away: the event is old, or a clock is wrong"
        )


def _check(given: List[bytes], right: List[bytes], header: str) -> None:
    # All secrets are compared, each in constant time.
    fits = [hmac.compare_digest(g, r) for g in given for r in right]
    if not any(fits):
        raise SignatureError(f"{header} does not fit the body and any of the secrets")


def _key(secret: str) -> bytes:
    encoded = secret[len("whsec_") :] if secret.startswith("whsec_") else ""
    encoded = encoded.rstrip("=") + "=" * (-len(encoded.rstrip("=")) % 4)
    try:
        key = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise ValueError("a webhook secret is whsec_ and base64 behind it")
    return key
