# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from pingpost._model import OpenEnum


class ReturnState(OpenEnum):
    """Where the return of a lead stands. `waiting`: for the operator. `approved`: the lead went back. `refused`: by the operator; it cannot be asked for again.
    """

    WAITING = 'waiting'
    APPROVED = 'approved'
    REFUSED = 'refused'
