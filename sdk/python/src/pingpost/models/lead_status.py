# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from pingpost._model import OpenEnum


class LeadStatus(OpenEnum):
    """`OPEN`: with a buyer's endpoint, the outcome not known yet. `ACCEPTED`: a buyer was assigned. `UNMATCHED`: nobody took it. The others are what its buyer has reported.
    """

    OPEN = 'OPEN'
    ACCEPTED = 'ACCEPTED'
    UNMATCHED = 'UNMATCHED'
    CONTACTED = 'contacted'
    QUALIFIED = 'qualified'
    SOLD = 'sold'
    RETURNED = 'returned'
