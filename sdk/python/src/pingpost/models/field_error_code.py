# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from pingpost._model import OpenEnum


class FieldErrorCode(OpenEnum):
    """The code for an invalid member.
    """

    MISSING_REQUIRED = 'missing_required'
    WRONG_TYPE = 'wrong_type'
    INVALID_FORMAT = 'invalid_format'
    OUT_OF_RANGE = 'out_of_range'
    NOT_ALLOWED_VALUE = 'not_allowed_value'
    TOO_LONG = 'too_long'
    UNKNOWN = 'unknown'
    INACTIVE = 'inactive'
    EXPIRED = 'expired'
    PING_MISMATCH = 'ping_mismatch'
    CONTACT_FIELD_NOT_ALLOWED = 'contact_field_not_allowed'
    UNKNOWN_FIELD = 'unknown_field'
