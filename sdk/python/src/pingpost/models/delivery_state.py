# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from pingpost._model import OpenEnum


class DeliveryState(OpenEnum):
    """What is known of the way to the buyer's endpoint. `none`: there is none, the lead is only recorded. `pending`: being sent, or between two tries. `delivered`: acknowledged. `unknown`: the tries are used up, and the operator decides. `failed`: refused. `confirmed`: the operator has found that the buyer has it. `released`: the operator took it back.
    """

    NONE = 'none'
    PENDING = 'pending'
    DELIVERED = 'delivered'
    UNKNOWN = 'unknown'
    FAILED = 'failed'
    CONFIRMED = 'confirmed'
    RELEASED = 'released'
