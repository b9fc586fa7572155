"""What the generated models stand on: open enums, and objects with named members.

An answer may have more than this version knows. What it does not know is kept, and never fails:
members in `extra`, enum values as members of their enum that have no name in it.

In Python a member that is not there is None, as is one that is null. On the wire a required member
that is None is null, and an optional one is left out. An optional member that arrived as null is
kept as `extra[name] = None`, and one of another type as `extra[name]`, so both go out as they came
in. Only required members can make an object unreadable. (Rejected: a third value beside None for
what is not there. It is in the way at every use, for one member of one schema.)
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar, Dict, List, Mapping, NamedTuple, Optional, Tuple, Type, TypeVar

from pingpost._meta import Meta
from pingpost._wire import parse_time

E = TypeVar("E", bound="OpenEnum")
M = TypeVar("M", bound="Model")


class OpenEnum(str, enum.Enum):
    """An enum of strings that takes any string: one that is not listed is a value all the same."""

    @classmethod
    def _missing_(cls: Type[E], value: object) -> Optional[E]:
        if not isinstance(value, str):
            return None
        # Made anew each time and not remembered: strangers choose the text.
        member = str.__new__(cls, value)
        member._name_ = value
        member._value_ = value
        return member

    @property
    def known(self) -> bool:
        """Whether this version of the package lists the value."""
        return self.value in type(self)._value2member_map_

    def __str__(self) -> str:
        return str.__str__(self)

    def __format__(self, form: str) -> str:
        return str.__format__(self, form)


class Member(NamedTuple):
    """One member of a schema: its name on the wire, its name here, and what it holds."""

    wire: str
    name: str
    kind: type
    required: bool = False
    nullable: bool = False
    many: bool = False


class Problem(NamedTuple):
    """What is wrong with one member, in the words of the contract's field_errors."""

    field: str
    code: str
    expected: str


class ShapeError(ValueError):
    """A JSON object is not what its schema says. Has the problems, and nothing of the values."""

    def __init__(self, model: str, problems: List[Problem]) -> None:
        told = "; ".join(f"{p.field}: {p.code}, expected {p.expected}" for p in problems)
        super().__init__(f"not a {model}: {told}")
        self.model = model
        self.problems = problems

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.model, self.problems)


_EXPECTED: Dict[type, str] = {
    str: "a string",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    Decimal: "a number",
    datetime: "a time as RFC 3339 writes it",
    dict: "an object",
}

_LEGIBLE = frozenset(
    {"id", "status", "type", "code", "currency", "expected", "field", "vertical", "sub_vertical"}
)


@dataclass(init=False, repr=False)
class Model:
    """An object of the specification. Generated subclasses name its members."""

    MEMBERS: ClassVar[Tuple[Member, ...]] = ()

    extra: Dict[str, Any]
    """Members that this version does not name, such as a campaign's own fields. They are sent too."""

    @property
    def meta(self) -> Meta:
        """What came beside the answer's body. Only what a client returned has it."""
        meta = self.__dict__.get("_meta")
        if not isinstance(meta, Meta):
            raise AttributeError(f"this {type(self).__name__} is not an answer of the exchange")
        return meta

    def to_dict(self) -> Dict[str, Any]:
        """The object as it is on the wire, by its names there; encode it with `pingpost.to_json`."""
        wire: Dict[str, Any] = {}
        for member in self.MEMBERS:
            value = getattr(self, member.name)
            if value is None:
                if member.required:
                    wire[member.wire] = None
            elif member.many:
                wire[member.wire] = [_plain(item) for item in value]
            else:
                wire[member.wire] = _plain(value)
        for name, value in self.extra.items():
            if name not in wire:
                wire[name] = value
        return wire

    @classmethod
    def from_dict(cls: Type[M], wire: Mapping[str, Any]) -> M:
        """The object that JSON described. Raises ShapeError where a required member is not there
        or has another type; what is not known is kept."""
        problems: List[Problem] = []
        made = read(cls, wire, "", problems)
        if made is None:
            raise ShapeError(cls.__name__, problems)
        return made

    def __repr__(self) -> str:
        """Names what is there. Shows no text but ids and the like: the rest may tell who a person is."""
        told = [f"{m.name}={_shown(m, getattr(self, m.name, None))}" for m in self.MEMBERS]
        told = [t for t in told if not t.endswith("=None")]
        if self.__dict__.get("extra"):
            told.append(f"extra=<{len(self.extra)}>")
        return f"{type(self).__name__}({', '.join(told)})"


def read(cls: Type[M], wire: Any, path: str, problems: List[Problem], *, sent: bool = False) -> Optional[M]:
    """Makes cls of wire, or adds what is wrong with it to problems and returns None. Path is put
    before the names of members. With sent it is somebody's request, in which a required text that
    is blank counts as missing."""
    if not isinstance(wire, Mapping):
        problems.append(Problem(path.rstrip("."), "wrong_type", "an object"))
        return None
    before = len(problems)
    made = cls.__new__(cls)
    extra = {name: value for name, value in wire.items() if name not in _names(cls)}
    for member in cls.MEMBERS:
        value = wire.get(member.wire)
        if value is None:
            made.__dict__[member.name] = None
            if member.wire in wire and not member.required:
                extra[member.wire] = None
            if not member.required or (member.nullable and member.wire in wire):
                continue
        if value is None or (sent and member.required and isinstance(value, str) and not value.strip()):
            problems.append(Problem(path + member.wire, "missing_required", _expected(member)))
            continue
        faults = problems if member.required else []
        made.__dict__[member.name] = _member(member, value, path + member.wire, faults, sent)
        if faults and not member.required:
            made.__dict__[member.name] = None
            extra[member.wire] = value
    made.extra = extra
    return made if len(problems) == before else None


_NAMES: Dict[type, frozenset[str]] = {}


def _names(cls: Type[Model]) -> frozenset[str]:
    names = _NAMES.get(cls)
    if names is None:
        names = _NAMES[cls] = frozenset(m.wire for m in cls.MEMBERS)
    return names


def _member(member: Member, value: Any, path: str, problems: List[Problem], sent: bool) -> Any:
    if not member.many:
        return _one(member.kind, value, path, problems, sent)
    if not isinstance(value, list):
        problems.append(Problem(path, "wrong_type", "a list"))
        return None
    return [_one(member.kind, v, f"{path}[{i}]", problems, sent) for i, v in enumerate(value)]


def _one(kind: type, value: Any, path: str, problems: List[Problem], sent: bool) -> Any:
    if issubclass(kind, Model):
        return read(kind, value, path + ".", problems, sent=sent)
    number = isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
    if issubclass(kind, OpenEnum) and isinstance(value, str):
        return kind(value)
    if kind is Decimal and number:
        return Decimal(str(value))
    if kind is float and number:
        return float(value)
    if kind is int and number and value == int(value):
        return int(value)
    if kind is datetime and isinstance(value, str):
        try:
            return parse_time(value)
        except ValueError:
            problems.append(Problem(path, "invalid_format", _EXPECTED[datetime]))
            return None
    if kind in (str, bool, dict) and isinstance(value, kind):
        return value
    problems.append(Problem(path, "wrong_type", _EXPECTED.get(kind, "a string")))
    return None


def _expected(member: Member) -> str:
    if member.many:
        return "a list"
    if issubclass(member.kind, Model):
        return "an object"
    return _EXPECTED.get(member.kind, "a string")


def _plain(value: Any) -> Any:
    return value.to_dict() if isinstance(value, Model) else value


def _shown(member: Member, value: Any) -> str:
    if value is None or member.kind in (bool, int, float, Decimal) or issubclass(member.kind, Model):
        return repr(value)
    if member.kind is datetime:
        return value.isoformat() if isinstance(value, datetime) else "…"
    legible = member.name in _LEGIBLE or member.name.endswith("_id")
    if isinstance(value, str) and (legible or (issubclass(member.kind, OpenEnum) and member.name != "state")):
        return repr(str(value))
    return "…"
