"""Models: what they keep, what they refuse, and that they are the specification's."""

from __future__ import annotations

import copy
import dataclasses
import json
import pathlib
import pickle
import typing
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Dict, List, Type

import pytest
import yaml

import pingpost
from pingpost import models
from pingpost._model import OpenEnum
from pingpost._wire import Malformed, decode, encode, parse_time

SPECIFICATION = pathlib.Path(__file__).parents[3] / "api" / "openapi.yaml"
SCHEMAS: Dict[str, Any] = yaml.safe_load(SPECIFICATION.read_text(encoding="utf-8"))["components"]["schemas"]
OBJECTS = [name for name, schema in SCHEMAS.items() if "properties" in schema]
ENUMS = [name for name, schema in SCHEMAS.items() if "enum" in schema]


def nullable(schema: Any) -> bool:
    kinds = schema.get("type")
    return (isinstance(kinds, list) and "null" in kinds) or any(
        s.get("type") == "null" for s in schema.get("oneOf", [])
    )


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_is_as_specified(name: str) -> None:
    model: Type[pingpost.Model] = getattr(models, name)
    schema = SCHEMAS[name]
    assert {m.wire for m in model.MEMBERS} == set(schema["properties"])
    assert {m.wire for m in model.MEMBERS if m.required} == set(schema.get("required", []))
    assert {m.wire for m in model.MEMBERS if m.nullable} == {
        member for member, s in schema["properties"].items() if nullable(s)
    }
    for member in model.MEMBERS:
        money = schema["properties"][member.wire].get("$ref", "").endswith("/Amount")
        assert (member.kind is Decimal) is money
    hints = typing.get_type_hints(model.__init__)
    assert {m.name for m in model.MEMBERS} | {"extra", "return"} == set(hints) | {"return"}
    assert {f.name for f in dataclasses.fields(typing.cast("Any", model))} == {
        m.name for m in model.MEMBERS
    } | {"extra"}


@pytest.mark.parametrize("name", ENUMS)
def test_an_enum_is_as_specified(name: str) -> None:
    enum: Type[OpenEnum] = getattr(models, name)
    assert [member.value for member in enum] == SCHEMAS[name]["enum"]


def test_open_enums() -> None:
    new = models.LeadStatus("thought_over")
    assert (new, str(new), f"{new}", new.known) == ("thought_over", "thought_over", "thought_over", False)
    assert models.LeadStatus.CONTACTED.known
    assert f"{models.LeadStatus.CONTACTED}" == "contacted"
    by_text: Dict[str, int] = {"contacted": 1, new: 2}
    assert (by_text[models.LeadStatus.CONTACTED], by_text["thought_over"]) == (1, 2)
    assert "thought_over" not in [m.value for m in models.LeadStatus]
    for again in (pickle.loads(pickle.dumps(new)), copy.deepcopy(new)):
        assert (again, type(again)) == (new, models.LeadStatus)
    with pytest.raises(ValueError, match="7"):
        models.LeadStatus(7)


def test_what_is_null_and_what_is_absent() -> None:
    event: Dict[str, Any] = {"lead_id": "l", "status": "sold"}
    for name in ("lead_uuid", "auction_id", "campaign_id", "supplier_id", "buyer_id", "price", "reason"):
        event[name] = None
    absent = models.LeadEventData.from_dict(event)
    null = models.LeadEventData.from_dict(dict(event, reversed=None))
    assert absent.reversed is null.reversed is None
    assert "reversed" not in absent.to_dict()
    assert null.to_dict()["reversed"] is None
    assert absent != null
    assert models.Bid.MEMBERS[0].required
    made = models.BidResponse(auction_id="a", bid=None)
    assert made.to_dict() == {"auction_id": "a", "bid": None}
    assert made == models.BidResponse.from_dict({"auction_id": "a", "bid": None})
    assert dataclasses.replace(made, auction_id="b").auction_id == "b"


@pytest.mark.parametrize(
    "amount", ["0.000001", "1000000", "999999.999999", "0.1", "10.123456", "9", "0", "123456.7"]
)
def test_money_is_kept_to_the_sixth_decimal(amount: str) -> None:
    body = ('{"amount":' + amount + ',"currency":"USD"}').encode()
    price = models.Price.from_dict(decode(body))
    assert price.amount == Decimal(amount)
    assert encode(price) == body


TIMES = [
    ("2026-03-02T17:04:05Z", "2026-03-02T17:04:05Z"),
    ("2026-03-02T17:04:05.250000000Z", "2026-03-02T17:04:05.25Z"),
    ("2026-03-02t12:04:05.123456789-05:00", "2026-03-02T17:04:05.123456Z"),
    ("2026-03-02T17:04:05.1+00:00", "2026-03-02T17:04:05.1Z"),
]


@pytest.mark.parametrize(("text", "same"), TIMES)
def test_times(text: str, same: str) -> None:
    assert encode(parse_time(text)) == f'"{same}"'.encode()


@pytest.mark.parametrize("text", ["", "soon", "2026-03-02", "2026-03-02T17:04:05", "2026-13-02T17:04:05Z",
                                  "2026-03-02T17:04:05+24:00", "0001-01-01T00:00:00+01:00", "2026-03-02T17:04:05Z\n"])  # fmt: skip
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_time(text)


WRITTEN: List[Any] = [
    ({"a": [1, 2.5, True, None, 'ü"\n\ud83d']}, '{"a":[1,2.5,true,null,"\\u00fc\\"\\n\\ud83d"]}'),
    (Decimal("1E+3"), "1000"),
    (Decimal("1E-6"), "0.000001"),
    (1e22, "1e+22"),
    (models.LeadStatus.SOLD, '"sold"'),
    ((1, ()), "[1,[]]"),
    (datetime(2026, 3, 2, 1, tzinfo=timezone(timedelta(hours=2))), '"2026-03-01T23:00:00Z"'),
]


@pytest.mark.parametrize(("value", "text"), WRITTEN, ids=[w[1] for w in WRITTEN])
def test_what_is_written(value: Any, text: str) -> None:
    assert encode(value) == text.encode()
    json.loads(text)


def test_what_cannot_be_written() -> None:
    circle: List[Any] = []
    circle.append(circle)
    for value in (circle, float("inf"), Decimal("NaN"), Decimal("Infinity"), datetime(2026, 3, 2)):
        with pytest.raises(ValueError, match=r"\w"):
            encode(value)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"{} x", b'{"a":1,"a":1}', b"NaN", b"-Infinity", b"1e999",
                                  b"[" * 33 + b"]" * 33, b"[" * 100000])  # fmt: skip
def test_what_cannot_be_read(body: bytes) -> None:
    with pytest.raises(Malformed) as refused:
        decode(body)
    assert len(str(refused.value)) < 80


def test_nesting_up_to_the_bound() -> None:
    assert decode(b"[" * 32 + b"]" * 32)
    assert decode(b'{"a":[' + b"{}," * 20000 + b"{}]}")


def test_what_is_no_model() -> None:
    with pytest.raises(pingpost.ShapeError) as refused:
        models.PostRequest.from_dict({"auction_id": 7, "lead": {"phone": "4155550123", "email": None}})
    assert [(p.field, p.code) for p in refused.value.problems] == [
        ("auction_id", "wrong_type"),
        ("bid_token", "missing_required"),
        ("lead.lead_uuid", "missing_required"),
        ("lead.first_name", "missing_required"),
        ("lead.last_name", "missing_required"),
        ("lead.email", "missing_required"),
    ]
    assert "4155550123" not in str(refused.value)
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    others: List[Any] = [[], "x", None, 7]
    for other in others:
        with pytest.raises(pingpost.ShapeError):
            models.Price.from_dict(other)
    with pytest.raises(AttributeError, match="not an answer"):
        _ = models.Price(amount=Decimal(1), currency="USD").meta


def test_what_is_optional_and_odd_is_kept() -> None:
    odd = {"line1": 7, "city": "x", "state": ["CA"], "zip": None, "floor": 2}
    address = models.Address.from_dict(odd)
    assert (address.line1, address.city, address.state) == (None, "x", None)
    assert address.to_dict() == odd


def test_what_is_wrong_with_a_member_is_shown() -> None:
    wrong = models.FieldError.from_dict(
        {"field": "lead.phone", "code": "invalid_format", "expected": "ten digits"}
    )
    assert repr(wrong) == "FieldError(field='lead.phone', code='invalid_format', expected='ten digits')"
