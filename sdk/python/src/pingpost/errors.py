"""The errors of this package. No error shows a credential, a body or personal data."""

from __future__ import annotations

import builtins
from typing import Any, Dict, List, Optional, Tuple, Type

from pingpost.models import ErrorCode, FieldError, UnmatchedReason


class PingpostError(Exception):
    """The base class of all errors of this package. Invalid arguments raise ValueError and TypeError."""

    idempotency_key: Optional[str] = None
    """The key of the failed request. To retry later, send the same request with this key."""


class ApiError(PingpostError):
    """The exchange answered with an error, or the answer is not an exchange's (code "")."""

    def __init__(
        self,
        *,
        status: int,
        code: str = "",
        message: str = "",
        request_id: Optional[str] = None,
        field_errors: Tuple[FieldError, ...] = (),
        reason: Optional[UnmatchedReason] = None,
        error_description: Optional[str] = None,
        retry_after: Optional[float] = None,
        idempotency_key: Optional[str] = None,
    ) -> None:
        super().__init__(status, code)
        self.status = status
        self.code = ErrorCode(code)
        """The error code. Treat an unknown code by its status, because new codes may be added."""
        self.message = message
        self.request_id = request_id
        self.field_errors: List[FieldError] = list(field_errors)
        self.reason = reason
        """The reason of a `post_rejected`."""
        self.error_description = error_description
        """The OAuth error of the token endpoint."""
        self.retry_after = retry_after
        """The exchange's Retry-After in seconds."""
        self.idempotency_key = idempotency_key

    def __str__(self) -> str:
        text = f"{self.status} {self.code}".rstrip() + f": {self.message}"
        if self.field_errors:
            text += " (" + ", ".join(f"{e.field}: {e.code}" for e in self.field_errors) + ")"
        return text + (f" [{self.request_id}]" if self.request_id else "")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> Tuple[Any, ...]:
        return _again, (type(self), dict(self.__dict__, code=str(self.code)))


class InvalidRequest(ApiError):
    """400 or 422: the request is invalid. `field_errors` lists the fields."""


class Unauthorized(ApiError):
    """401: the credential is missing or unknown."""


class Forbidden(ApiError):
    """403: the credential does not permit this request."""


class NotFound(ApiError):
    """404: the object does not exist or is not yours."""


class Conflict(ApiError):
    """409: the request conflicts with the current state."""


class Expired(ApiError):
    """410: the bid has expired."""


class RateLimited(ApiError):
    """429 after the last retry. `retry_after` has the remaining delay."""


class ServerError(ApiError):
    """5xx after the last retry. The same request with the same key may be sent later."""


class TransportError(PingpostError):
    """The exchange was unreachable, or the connection broke. It may have received the request."""

    def __init__(self, message: str, *, idempotency_key: Optional[str] = None) -> None:
        super().__init__(message)
        self.idempotency_key = idempotency_key

    def __reduce__(self) -> Tuple[Any, ...]:
        return _again, (type(self), dict(self.__dict__, message=str(self)))


class TimeoutError(TransportError, builtins.TimeoutError):
    """No attempt got an answer within the timeout."""


class SignatureError(PingpostError):
    """A webhook with an invalid signature, from an unknown sender. Answer 400 and ignore the body."""


def of_status(status: int) -> Type[ApiError]:
    """The error class for a status."""
    if status >= 500:
        return ServerError
    return {
        400: InvalidRequest,
        401: Unauthorized,
        403: Forbidden,
        404: NotFound,
        409: Conflict,
        410: Expired,
        422: InvalidRequest,
        429: RateLimited,
    }.get(status, ApiError)


def _again(kind: Type[Any], fields: Dict[str, Any]) -> Any:
    message = fields.pop("message")
    if issubclass(kind, ApiError):
        return kind(message=message, **fields)
    return kind(message, **fields)
