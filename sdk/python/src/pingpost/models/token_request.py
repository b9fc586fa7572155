# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model
from pingpost.models.grant_type import GrantType


@dataclass(init=False, repr=False)
class TokenRequest(Model):
    r"""A client's credentials, to get a token. Other members and parameters are ignored.
    """

    grant_type: GrantType
    client_id: Optional[str]
    r"""The client's id, here or by HTTP Basic.
    """
    client_secret: Optional[str]
    r"""The client's secret, next to its id.
    """
    scope: Optional[str]
    r"""The token's scopes: some of `ping`, `post` and `webhook`, separated by spaces. By default all scopes of the client.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("grant_type", "grant_type", GrantType, required=True),
        Member("client_id", "client_id", str),
        Member("client_secret", "client_secret", str),
        Member("scope", "scope", str),
    )

    def __init__(
        self,
        *,
        grant_type: Union[GrantType, str],
        client_id: Optional[str] = None,
        client_secret: Optional[str] = None,
        scope: Optional[str] = None,
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.grant_type = GrantType(grant_type)
        self.client_id = client_id
        self.client_secret = client_secret
        self.scope = scope
        self.extra = dict(extra or {})
