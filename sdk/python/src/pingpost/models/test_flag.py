# Made by sdk/generate from api/openapi.yaml. Edit that, or sdk/python/templates, and run it again.
# ruff: noqa
# pyright: reportUnusedImport=false
from __future__ import annotations

from pingpost._model import OpenEnum


class TestFlag(OpenEnum):
    """Whether a request is a test.
    """

    ENUM_1 = '1'
    TRUE = 'true'
    ENUM_0 = '0'
    FALSE = 'false'
