"""The validated arguments of a client."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass, field
from typing import Dict, Optional, Sequence, Union
from urllib.parse import urlsplit

from pingpost._operation import positive
from pingpost._version import VERSION

MAX_RETRIES = 5
"""The contract's limit: waits of 1, 2, 4, 8 and 16 seconds."""

_SECRET = re.compile(r"[!-~]+", re.ASCII)


@dataclass(frozen=True)
class Settings:
    """The settings of one client. Its repr shows no credentials."""

    base_url: str
    auth_url: str
    timeout: float
    max_retries: int
    user_agent: str
    standing: Dict[str, str] = field(repr=False)
    """The headers of a fixed credential: an API key or a static token."""
    token_request: Optional[Dict[str, str]] = field(repr=False)
    """The token request, for a client with a client id."""


def read_settings(
    base_url: str,
    *,
    api_key: Optional[str],
    client_id: Optional[str],
    client_secret: Optional[str],
    scopes: Optional[Union[str, Sequence[str]]],
    token: Optional[str],
    auth_url: Optional[str],
    timeout: float,
    max_retries: int,
    user_agent: Optional[str],
) -> Settings:
    """Validates the arguments. Raises ValueError with the name of an invalid one."""
    if (client_id is None) != (client_secret is None):
        raise ValueError("client_id and client_secret go together")
    if sum(given is not None for given in (api_key, client_id, token)) != 1:
        raise ValueError("give one credential: api_key, or client_id with client_secret, or token")
    if not 0 <= max_retries <= MAX_RETRIES:
        raise ValueError(f"max_retries is from 0 to {MAX_RETRIES}")
    standing: Dict[str, str] = {}
    request: Optional[Dict[str, str]] = None
    if api_key is not None:
        standing["x-api-key"] = _secret(api_key, "api_key")
    if token is not None:
        standing["Authorization"] = "Bearer " + _secret(token, "token")
    if client_id is not None and client_secret is not None:
        if not client_id or not client_secret:
            raise ValueError("client_id or client_secret is empty")
        request = {"grant_type": "client_credentials", "client_id": client_id}
        request["client_secret"] = client_secret
        if scopes is not None:
            request["scope"] = scopes if isinstance(scopes, str) else " ".join(scopes)
    elif scopes is not None:
        raise ValueError("scopes go with client_id and client_secret")
    agent = f"pingpost-python/{VERSION} (Python {platform.python_version()})"
    return Settings(
        base_url=_address(base_url, "base_url"),
        auth_url=_address(auth_url or base_url, "auth_url"),
        timeout=positive(timeout),
        max_retries=max_retries,
        user_agent=f"{user_agent} {agent}" if user_agent else agent,
        standing=standing,
        token_request=request,
    )


def _secret(text: str, name: str) -> str:
    if not _SECRET.fullmatch(text):
        raise ValueError(f"{name} is empty, or has characters that are no visible ASCII")
    return text


def _address(text: str, name: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(
            f"{name} is an address with http or https and a host, such as https://exchange.example.com"
        )
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError(f"{name} has no user, password, query or fragment")
    return text.rstrip("/")
