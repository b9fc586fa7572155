# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from pingpost._model import OpenEnum


class IngestStatus(OpenEnum):
    """`ACCEPTED`: a buyer was assigned, and `price` is your payout. `UNMATCHED`: the lead is unsold, and `reason` has the cause.
    """

    ACCEPTED = 'ACCEPTED'
    UNMATCHED = 'UNMATCHED'
