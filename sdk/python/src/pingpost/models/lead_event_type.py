# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from pingpost._model import OpenEnum


class LeadEventType(OpenEnum):
    """The type of the event.
    """

    LEAD_POSTED = 'lead.posted'
    LEAD_CONTACTED = 'lead.contacted'
    LEAD_QUALIFIED = 'lead.qualified'
    LEAD_SOLD = 'lead.sold'
    LEAD_RETURNED = 'lead.returned'
    LEAD_UNMATCHED = 'lead.unmatched'
    LEAD_POST_FAILED = 'lead.post_failed'
