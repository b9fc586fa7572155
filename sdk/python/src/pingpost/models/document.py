# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, Optional, Tuple, Union

from pingpost._model import Member, Model


@dataclass(init=False, repr=False)
class Document(Model):
    r"""An OpenAPI document.
    """

    openapi: str
    r"""The version of OpenAPI.
    """
    info: Dict[str, object]
    r"""The document's metadata.
    """
    paths: Dict[str, object]
    r"""The operations.
    """

    MEMBERS: ClassVar[Tuple[Member, ...]] = (
        Member("openapi", "openapi", str, required=True),
        Member("info", "info", dict, required=True),
        Member("paths", "paths", dict, required=True),
    )

    def __init__(
        self,
        *,
        openapi: str,
        info: Dict[str, object],
        paths: Dict[str, object],
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.openapi = openapi
        self.info = info
        self.paths = paths
        self.extra = dict(extra or {})
