"""The synchronous client."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Any, Callable, Mapping, Optional, Sequence, Type, TypeVar, Union

import httpx

from pingpost import _operation
from pingpost._conversation import Failure, GetToken, Reply, Send, Wait, converse
from pingpost._model import Model
from pingpost._operation import Body, Call, Operation
from pingpost._settings import read_settings
from pingpost._token import Token, keep
from pingpost._transport import send
from pingpost.models import (
    AvailabilityRequest,
    AvailabilityResponse,
    BidResponse,
    IngestRequest,
    IngestResponse,
    Lead,
    LeadResponse,
    PingRequest,
    PostRequest,
    PostResponse,
    SeedRequest,
    SeedResponse,
    StatusBatch,
    StatusBatchResponse,
    StatusChange,
    StatusResponse,
    TokenRequest,
    TokenResponse,
)

A = TypeVar("A", bound=Model)


class Client:
    """Calls an exchange. All threads may share one client. Close it, or use it in a with statement.

    The client retries after a 5xx, a 429 and a failed connection, up to five times, always with the
    same Idempotency-Key and the same bytes. Every answer has a `meta`. An error response raises
    ApiError, a missing response TransportError or TimeoutError. Requests are models, or mappings in
    the wire format.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: Optional[str] = None,
        client_id: Optional[str] = None,
        client_secret: Optional[str] = None,
        scopes: Optional[Union[str, Sequence[str]]] = None,
        token: Optional[str] = None,
        auth_url: Optional[str] = None,
        timeout: float = 10.0,
        max_retries: int = 5,
        user_agent: Optional[str] = None,
        http_client: Optional[httpx.Client] = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """Pass one credential: `api_key`; or `client_id` with `client_secret`, for access tokens from
        `auth_url` (default: base_url) with `scopes` (default: all of the client's scopes), renewed
        automatically; or `token`, a fixed bearer token, for example of a sandbox.

        `timeout` is in seconds and applies to each attempt. `max_retries` is 0 to 5. `user_agent` is
        put before this package's own. A given `http_client` sends the requests and is not closed here.
        `sleep` waits between attempts. Raises ValueError for an invalid argument.
        """
        self._settings = read_settings(
            base_url,
            api_key=api_key,
            client_id=client_id,
            client_secret=client_secret,
            scopes=scopes,
            token=token,
            auth_url=auth_url,
            timeout=timeout,
            max_retries=max_retries,
            user_agent=user_agent,
        )
        self._http = http_client if http_client is not None else httpx.Client()
        self._close_http = http_client is None
        self._sleep = sleep
        self._token: Optional[Token] = None
        self._renewing = threading.Lock()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections. A given http_client stays open."""
        if self._close_http:
            self._http.close()

    def ingest_lead(
        self,
        request: Union[IngestRequest, Mapping[str, Any]],
        *,
        idempotency_key: Optional[str] = None,
        test: bool = False,
        timeout: Optional[float] = None,
    ) -> IngestResponse:
        """Sends a complete lead, which one buyer or no buyer receives.

        Needs an API key. A repeat with the same idempotency key returns the same lead."""
        return self._carry(
            _operation.INGEST_LEAD, body=request, idempotency_key=idempotency_key, test=test, timeout=timeout
        )

    def check_availability(
        self,
        request: Union[AvailabilityRequest, Mapping[str, Any]],
        *,
        idempotency_key: Optional[str] = None,
        test: bool = False,
        timeout: Optional[float] = None,
    ) -> AvailabilityResponse:
        """Asks which buyers would buy a lead, without contact data. Needs an API key."""
        return self._carry(
            _operation.CHECK_AVAILABILITY,
            body=request,
            idempotency_key=idempotency_key,
            test=test,
            timeout=timeout,
        )

    def get_supplied_lead(self, lead_id: str, *, timeout: Optional[float] = None) -> LeadResponse:
        """Returns the status of a lead that you sent. Needs an API key."""
        return self._carry(_operation.GET_SUPPLIED_LEAD, lead_id=lead_id, timeout=timeout)

    def send_ping(
        self,
        request: Union[PingRequest, Mapping[str, Any]],
        *,
        idempotency_key: Optional[str] = None,
        test: bool = False,
        timeout: Optional[float] = None,
    ) -> BidResponse:
        """Asks for bids on a lead, without contact data. No bid is a normal answer, not an error.

        Needs a token with the scope `ping`."""
        return self._carry(
            _operation.SEND_PING, body=request, idempotency_key=idempotency_key, test=test, timeout=timeout
        )

    def send_post(
        self,
        request: Union[PostRequest, Mapping[str, Any]],
        *,
        idempotency_key: Optional[str] = None,
        test: bool = False,
        timeout: Optional[float] = None,
    ) -> PostResponse:
        """Sells the lead for the bid of an earlier ping. Needs a token with the scope `post`."""
        return self._carry(
            _operation.SEND_POST, body=request, idempotency_key=idempotency_key, test=test, timeout=timeout
        )

    def get_lead(self, lead_id: str, *, timeout: Optional[float] = None) -> Lead:
        """Returns the status of a lead that you sold or bought. Needs a token."""
        return self._carry(_operation.GET_LEAD, lead_id=lead_id, timeout=timeout)

    def report_status(
        self,
        lead_id: str,
        request: Union[StatusChange, Mapping[str, Any]],
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> StatusResponse:
        """Reports the status of a lead that you bought. Needs a token with the scope `webhook`."""
        return self._carry(
            _operation.REPORT_STATUS,
            lead_id=lead_id,
            body=request,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )

    def report_statuses(
        self,
        request: Union[StatusBatch, Mapping[str, Any]],
        *,
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> StatusBatchResponse:
        """Reports the status of up to 1,000 leads. Each entry of `results` has its own outcome.

        Needs a token with the scope `webhook`."""
        return self._carry(
            _operation.REPORT_STATUSES, body=request, idempotency_key=idempotency_key, timeout=timeout
        )

    def seed_leads(
        self, request: Union[SeedRequest, Mapping[str, Any]], *, timeout: Optional[float] = None
    ) -> SeedResponse:
        """Generates fake persons in a sandbox, the same ones for the same request. Needs a token."""
        return self._carry(_operation.SEED_LEADS, body=request, timeout=timeout)

    def create_token(
        self, request: Union[TokenRequest, Mapping[str, Any]], *, timeout: Optional[float] = None
    ) -> TokenResponse:
        """Requests an access token for other uses. A client with a client_id does this automatically."""
        return self._carry(_operation.CREATE_TOKEN, body=request, timeout=timeout)

    def _carry(
        self,
        operation: Operation[A],
        *,
        timeout: Optional[float],
        lead_id: Optional[str] = None,
        body: Optional[Body] = None,
        idempotency_key: Optional[str] = None,
        test: bool = False,
    ) -> A:
        settings = self._settings
        call = _operation.write(
            operation,
            settings.auth_url if operation is _operation.CREATE_TOKEN else settings.base_url,
            body=body,
            lead_id=lead_id,
            idempotency_key=idempotency_key,
            test=test,
            timeout=settings.timeout if timeout is None else timeout,
            user_agent=settings.user_agent,
        )
        return self._converse(call)

    def _converse(self, call: Call[A]) -> A:
        steps = converse(call, self._settings, time.time)
        said: Union[Reply, Failure, str, None] = None
        while True:
            try:
                step = steps.send(said)
            except StopIteration as end:
                answer: A = end.value
                return answer
            if isinstance(step, Send):
                said = send(self._http, step)
            elif isinstance(step, Wait):
                self._sleep(step.seconds)
                said = None
            else:
                said = self._get_token(step)

    def _get_token(self, wanted: GetToken) -> str:
        # Concurrent calls wait here for the token that the first one requests.
        with self._renewing:
            now = time.monotonic()
            if self._token is None or not self._token.serves(now, wanted.refused):
                self._token = keep(self.create_token(self._settings.token_request or {}), now)
            return self._token.text
