"""The checks that are the exchange's own, and the two of schemathesis' that need the exceptions."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import requests
import schemathesis
from schemathesis.specs.openapi import checks as theirs

import document
from exceptions import Sent, parsed, rightly_taken, unexplained
from memory import RUN, URL

NARROW = os.environ.get("LIVE_TENANT") == "narrow"


def sent_by(case: schemathesis.Case, response: schemathesis.Response) -> Sent:
    body = response.request.body
    return Sent(
        operation=case.operation.definition.raw["operationId"],
        media_type=case.media_type,
        body=case.body,
        headers={name: _text(value) for name, value in response.request.headers.items()},
        memory=RUN,
        lead=str((case.path_parameters or {}).get("id", "")),
        raw=body.encode() if isinstance(body, str) else body or b"",
    )


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


@schemathesis.check
def taken_as_documented(
    ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case
) -> bool | None:
    """What is valid is taken, or refused for a reason that no schema can know."""
    if case.meta is None or not case.meta.generation.mode.is_positive or theirs.is_unexpected_http_status_case(case):
        return None
    if response.status_code < 400:
        return None
    left = unexplained(sent_by(case, response), response.status_code, parsed(response.text))
    assert not left, f"what the document allows was refused: {', '.join(left)}"
    return None


@schemathesis.check
def refused_as_documented(
    ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case
) -> bool | None:
    """What is invalid is refused, unless it is valid as the contract reads it."""
    if response.status_code < 300 and rightly_taken(sent_by(case, response), parsed(response.text)):
        return None
    return theirs.negative_data_rejection(ctx, response, case)


OTHERS = {
    "getLead": {"Authorization": f"Bearer {os.environ.get('LIVE_OTHER_TOKEN', '')}"},
    "getSuppliedLead": {"x-api-key": os.environ.get("LIVE_OTHER_KEY", "")},
}


@schemathesis.check
def hidden_from_others(
    ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case
) -> bool | None:
    """A lead of one supplier is not there for another."""
    credential = OTHERS.get(case.operation.definition.raw["operationId"])
    if credential is None or response.status_code != 200 or NARROW:
        return None
    path = response.request.url[len(URL) :]
    answer = requests.get(URL + path, headers=credential, timeout=10)
    assert answer.status_code == 404, f"another supplier is answered {answer.status_code}"
    return None


@schemathesis.check
class Reached:
    """Each operation has succeeded, and on the narrow sandbox each that has a limit has met it."""

    def __init__(self) -> None:
        self.seen: dict[str, set[int]] = {}
        self.valid: dict[str, Counter[str]] = {}

    def after_response(
        self, ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case
    ) -> None:
        operation = case.operation.definition.raw["operationId"]
        self.seen.setdefault(operation, set()).add(response.status_code)
        if case.meta is not None and case.meta.generation.mode.is_positive:
            taken = "taken" if response.status_code < 400 else "refused"
            self.valid.setdefault(operation, Counter())[f"{case.meta.phase.name.value} {taken}"] += 1

    def after_run(self, ctx: Any) -> None:
        for operation, statuses in sorted(self.seen.items()):
            counts = ", ".join(f"{count} {what}" for what, count in sorted(self.valid.get(operation, {}).items()))
            print(f"{operation}: {' '.join(map(str, sorted(statuses)))}; of valid requests {counts or 'none'}")
        missing = sorted(set(document.operations()) - {o for o, s in self.seen.items() if self._is_reached(o, s)})
        assert not missing, f"{'429 was never seen' if NARROW else 'no success was seen'}: {', '.join(missing)}"

    @staticmethod
    def _is_reached(operation: str, statuses: set[int]) -> bool:
        if NARROW and document.has_limit(operation):
            return 429 in statuses
        if operation == "getInstructions":  # only an operator can make a link; exchange/instructions_test.go opens links
            return 404 in statuses
        return any(status < 300 for status in statuses)
