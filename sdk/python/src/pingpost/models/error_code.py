# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from pingpost._model import OpenEnum


class ErrorCode(OpenEnum):
    """The error's code, for programs. Each code has one status. In a result of a batch there is no separate status.
    """

    MALFORMED_JSON = 'malformed_json'
    MALFORMED_REQUEST = 'malformed_request'
    INVALID_REQUEST = 'invalid_request'
    UNSUPPORTED_GRANT_TYPE = 'unsupported_grant_type'
    INVALID_SCOPE = 'invalid_scope'
    UNAUTHORIZED = 'unauthorized'
    INVALID_CLIENT = 'invalid_client'
    FORBIDDEN = 'forbidden'
    INSUFFICIENT_SCOPE = 'insufficient_scope'
    NOT_FOUND = 'not_found'
    METHOD_NOT_ALLOWED = 'method_not_allowed'
    REQUEST_TIMEOUT = 'request_timeout'
    AUCTION_EXISTS = 'auction_exists'
    ALREADY_SOLD = 'already_sold'
    INVALID_TRANSITION = 'invalid_transition'
    BID_EXPIRED = 'bid_expired'
    PAYLOAD_TOO_LARGE = 'payload_too_large'
    UNSUPPORTED_MEDIA_TYPE = 'unsupported_media_type'
    INVALID_PAYLOAD = 'invalid_payload'
    IDEMPOTENCY_KEY_REUSED = 'idempotency_key_reused'
    INVALID_BID_TOKEN = 'invalid_bid_token'
    POST_REJECTED = 'post_rejected'
    RATE_LIMITED = 'rate_limited'
    HEADER_TOO_LARGE = 'header_too_large'
    INTERNAL = 'internal'
    BUYER_UNAVAILABLE = 'buyer_unavailable'
    UNAVAILABLE = 'unavailable'
    BUYER_TIMEOUT = 'buyer_timeout'
    HTTP_VERSION_NOT_SUPPORTED = 'http_version_not_supported'
