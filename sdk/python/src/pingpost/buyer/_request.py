"""Validates the exchange's requests before the buyer's functions are called."""

from __future__ import annotations

import hmac
import re
import uuid
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Dict, List, Mapping, Optional, Type, TypeVar, Union

from pingpost._model import Model, Problem, read
from pingpost._wire import Malformed, decode, encode

M = TypeVar("M", bound=Model)

MAX_BODY = 64 << 10
"""Maximum bytes of a body. The exchange does not send more."""

_REQUEST_ID = re.compile(r"[!-~]{1,64}", re.ASCII)
_KEY = re.compile(r"[!-~]{1,255}", re.ASCII)


@dataclass(frozen=True)
class Answer:
    """An encoded answer."""

    status: int
    headers: Dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Head:
    """A request without its body. Header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]

    def request_id(self) -> str:
        """The exchange's request id, or a generated one."""
        given = self.headers.get("x-request-id", "")
        return given if _REQUEST_ID.fullmatch(given) else f"req_{uuid.uuid4().hex}"


@dataclass(frozen=True, repr=False)
class Credential:
    """The exchange's credential, as agreed with its operator: a bearer token, or a key and its
    header."""

    bearer: Optional[str] = None
    api_key: Optional[str] = None
    header: str = "x-api-key"

    def __post_init__(self) -> None:
        if (self.bearer is None) == (self.api_key is None) or not (self.bearer or self.api_key):
            raise ValueError("a credential is a bearer token or an api_key, one of them")

    def fits(self, headers: Mapping[str, str]) -> bool:
        """Whether the request has the credential. Compares in constant time."""
        if self.bearer is not None:
            scheme, _, shown = headers.get("authorization", "").partition(" ")
            return scheme.lower() == "bearer" and _same(shown.strip(), self.bearer)
        return _same(headers.get(self.header.lower(), "").strip(), self.api_key or "")


def _same(shown: str, right: str) -> bool:
    # Hashes are compared, so that the time does not reveal the length either.
    return hmac.compare_digest(sha256(shown.encode()).digest(), sha256(right.encode()).digest())


def refuse_head(head: Head, credential: Optional[Credential]) -> Optional[Answer]:
    """Checks before the body is read: 404, 405, 401."""
    if head.path not in ("/v1/ping", "/v1/post"):
        return error(head, 404, "not_found", "there is nothing here: a buyer has /v1/ping and /v1/post")
    if head.method != "POST":
        return error(head, 405, "method_not_allowed", "send it with POST", {"Allow": "POST"})
    if credential is not None and not credential.fits(head.headers):
        challenge = {"WWW-Authenticate": "Bearer"} if credential.bearer is not None else {}
        return error(head, 401, "unauthorized", "no credential, or a wrong one", challenge)
    return None


def refuse_body(head: Head, body: Optional[bytes]) -> Optional[Answer]:
    """Checks for 413 and 415. Body is None if it is larger than MAX_BODY."""
    if body is None or len(body) > MAX_BODY:
        return error(head, 413, "payload_too_large", f"a body has at most {MAX_BODY} bytes")
    kind = head.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return error(head, 415, "unsupported_media_type", "send it as application/json")
    return None


def read_json(head: Head, body: bytes) -> Union[Dict[str, Any], Answer]:
    """The members of the body, or a 400."""
    try:
        members = decode(body)
    except Malformed as e:
        return error(head, 400, "malformed_json", f"the body is no JSON object: {e}")
    if not isinstance(members, dict):
        return error(head, 400, "malformed_json", "the body is no JSON object")
    return members


def read_request(head: Head, members: Mapping[str, Any], kind: Type[M]) -> Union[M, Answer]:
    """The decoded request, or a 422 with all its errors."""
    problems: List[Problem] = []
    if key_of(head) is None:
        code = "invalid_format" if "idempotency-key" in head.headers else "missing_required"
        problems.append(Problem("Idempotency-Key", code, "1 to 255 visible ASCII characters"))
    model = read(kind, members, "", problems, sent=True)
    if model is None or problems:
        listed = [{"field": p.field, "code": p.code, "expected": p.expected} for p in problems]
        return error(
            head, 422, "invalid_payload", "the request is not as it should be", more={"field_errors": listed}
        )
    return model


def key_of(head: Head) -> Optional[str]:
    """The Idempotency-Key without quotes."""
    key = head.headers.get("idempotency-key", "").strip()
    if len(key) > 2 and key[0] == key[-1] == '"':
        key = key[1:-1]
    return key if _KEY.fullmatch(key) else None


def error(
    head: Head,
    status: int,
    code: str,
    message: str,
    headers: Optional[Mapping[str, str]] = None,
    more: Optional[Mapping[str, Any]] = None,
) -> Answer:
    """An error in the contract's format."""
    name = head.request_id()
    body: Dict[str, Any] = {"error": code, "message": message, "request_id": name}
    body.update(more or {})
    return answer(status, encode(body), name, headers)


def answer(status: int, body: bytes, request_id: str, headers: Optional[Mapping[str, str]] = None) -> Answer:
    all_headers = {"Content-Type": "application/json", "X-Request-Id": request_id}
    all_headers["Content-Length"] = str(len(body))
    all_headers.update(headers or {})
    return Answer(status, all_headers, body)
