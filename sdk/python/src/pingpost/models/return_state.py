# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from pingpost._model import OpenEnum


class ReturnState(OpenEnum):
    """The state of a lead's return. `waiting`: for an operator. `approved`: the lead was returned. `refused`: an operator denied it. A denied return cannot be requested again.
    """

    WAITING = 'waiting'
    APPROVED = 'approved'
    REFUSED = 'refused'
