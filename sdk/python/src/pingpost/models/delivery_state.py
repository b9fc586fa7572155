# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from pingpost._model import OpenEnum


class DeliveryState(OpenEnum):
    """The state of the delivery to the buyer's endpoint. `none`: the buyer has no endpoint, and the lead is only recorded. `pending`: in progress, or between two attempts. `delivered`: acknowledged. `unknown`: all attempts failed without a clear answer, and an operator decides. `failed`: rejected. `confirmed`: an operator found that the buyer has the lead. `released`: an operator found that it does not.
    """

    NONE = 'none'
    PENDING = 'pending'
    DELIVERED = 'delivered'
    UNKNOWN = 'unknown'
    FAILED = 'failed'
    CONFIRMED = 'confirmed'
    RELEASED = 'released'
