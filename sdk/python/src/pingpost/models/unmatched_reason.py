# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from pingpost._model import OpenEnum


class UnmatchedReason(OpenEnum):
    """The cause of an unsold lead. `suppressed` and `duplicate` end the processing at once. The others are the furthest stage
that any buyer reached, in this order: `no_buyer` (the campaign has no buyer), `no_state_match`, `filtered`,
`outside_schedule`, `caps_full`, `insufficient_funds`, `rate_limited` (all buyers' ping limits are reached), `timeout`
(no answer in time), `no_bid`, `below_floor`, `bid_expired`, `post_rejected` (the buyer rejected the lead).
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
