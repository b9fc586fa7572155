# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.token_type import TokenType


@dataclass(init=False, repr=False)
class TokenResponse(Model):
    r"""An access token.
    """

    access_token: str
    r"""The token. It is opaque.
    """
    token_type: TokenType
    expires_in: int
    r"""The token's lifetime in seconds from now.
    """
    scope: str
    r"""The token's scopes, separated by spaces.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("access_token", "access_token", str, required=True),
        Member("token_type", "token_type", TokenType, required=True),
        Member("expires_in", "expires_in", int, required=True),
        Member("scope", "scope", str, required=True),
    )

    def __init__(
        self,
        *,
        access_token: str,
        token_type: Union[TokenType, str],
        expires_in: int,
        scope: str,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.access_token = access_token
        self.token_type = TokenType(token_type)
        self.expires_in = expires_in
        self.scope = scope
        self.extra = dict(extra or {})
