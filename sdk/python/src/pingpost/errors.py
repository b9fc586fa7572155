"""What can go wrong. No error shows a credential, a body or what tells who a person is."""

from __future__ import annotations

import builtins
from typing import Any, Dict, List, Optional, Tuple, Type

from pingpost.models import ErrorCode, FieldError, UnmatchedReason


class PingpostError(Exception):
    """The base of all errors of this package. Wrong arguments are ValueError and TypeError."""

    idempotency_key: Optional[str] = None
    """The key of the request that failed. Send the same request with it to try again later."""


class ApiError(PingpostError):
    """The exchange answered with an error, or with what is no answer of an exchange (code "")."""

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
        """Which error it is. New codes may come: treat one that is not known by its status."""
        self.message = message
        self.request_id = request_id
        self.field_errors: List[FieldError] = list(field_errors)
        self.reason = reason
        """Why a lead was not taken, with `post_rejected`."""
        self.error_description = error_description
        """What the token endpoint says, as OAuth has it."""
        self.retry_after = retry_after
        """The seconds after which the exchange asked to be tried again."""
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
    """400 or 422: the request is wrong as it is. `field_errors` says where."""


class Unauthorized(ApiError):
    """401: no credential, or none that the exchange knows."""


class Forbidden(ApiError):
    """403: the credential is known, and does not allow this."""


class NotFound(ApiError):
    """404: there is no such thing, or it is not yours."""


class Conflict(ApiError):
    """409: what was asked for contradicts what has happened."""


class Expired(ApiError):
    """410: the bid is over."""


class RateLimited(ApiError):
    """429, and the retries are used up. `retry_after` says when there is room again."""


class ServerError(ApiError):
    """5xx, and the retries are used up. The same request with the same key may be sent later."""


class TransportError(PingpostError):
    """The exchange could not be reached, or the connection broke. It may have heard the request."""

    def __init__(self, message: str, *, idempotency_key: Optional[str] = None) -> None:
        super().__init__(message)
        self.idempotency_key = idempotency_key

    def __reduce__(self) -> Tuple[Any, ...]:
        return _again, (type(self), dict(self.__dict__, message=str(self)))


class TimeoutError(TransportError, builtins.TimeoutError):
    """No answer within the timeout, at any of the tries."""


class SignatureError(PingpostError):
    """A webhook that does not verify: it may be anybody's. Answer 400 and look no further at it."""


def of_status(status: int) -> Type[ApiError]:
    """The class that errors of this status have."""
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
