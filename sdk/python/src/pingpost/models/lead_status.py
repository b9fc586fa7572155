# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from pingpost._model import OpenEnum


class LeadStatus(OpenEnum):
    """`OPEN`: sent to a buyer's endpoint, without a result so far. `ACCEPTED`: a buyer was assigned. `UNMATCHED`: unsold. The others are the buyer's reports.
    """

    OPEN = 'OPEN'
    ACCEPTED = 'ACCEPTED'
    UNMATCHED = 'UNMATCHED'
    CONTACTED = 'contacted'
    QUALIFIED = 'qualified'
    SOLD = 'sold'
    RETURNED = 'returned'
