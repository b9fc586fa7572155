# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from pingpost._model import OpenEnum


class NoBidReason(OpenEnum):
    """The cause of a no-bid: an unsold reason, or `no_campaign` (no active campaign accepts pings of this vertical from this
seller), or `loop` (the ping has passed too many exchanges).
    """

    NO_BUYER = 'no_buyer'
    NO_STATE_MATCH = 'no_state_match'
    FILTERED = 'filtered'
    OUTSIDE_SCHEDULE = 'outside_schedule'
    CAPS_FULL = 'caps_full'
    INSUFFICIENT_FUNDS = 'insufficient_funds'
    RATE_LIMITED = 'rate_limited'
    TIMEOUT = 'timeout'
    NO_BID = 'no_bid'
    BELOW_FLOOR = 'below_floor'
    BID_EXPIRED = 'bid_expired'
    POST_REJECTED = 'post_rejected'
    SUPPRESSED = 'suppressed'
    DUPLICATE = 'duplicate'
    NO_CAMPAIGN = 'no_campaign'
    LOOP = 'loop'
