"""What api/openapi.yaml says of requests, as validators."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml

HERE = Path(__file__).resolve().parent
METHODS = ("get", "post")


@cache
def whole() -> dict[str, Any]:
    """The document as it was written."""
    text = (HERE.parent / "openapi.yaml").read_text("utf-8")
    document: dict[str, Any] = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return document


@cache
def operations() -> dict[str, dict[str, Any]]:
    """The operations by their ids."""
    return {
        item[method]["operationId"]: item[method]
        for item in whole()["paths"].values()
        for method in METHODS
        if method in item
    }


@cache
def of_body(operation: str, media_type: str) -> jsonschema_rs.Validator | None:
    """The validator of an operation's body; None: it has none of that type."""
    content = operations()[operation].get("requestBody", {}).get("content", {})
    return _validator(content[media_type]["schema"]["$ref"]) if media_type in content else None


@cache
def of_schema(name: str) -> jsonschema_rs.Validator:
    """The validator of a schema by its name."""
    return _validator(f"#/components/schemas/{name}")


def _validator(reference: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.Draft202012Validator(
        {"$ref": reference, "components": whole()["components"]}, validate_formats=True
    )


@cache
def headers_of(operation: str) -> dict[str, jsonschema_rs.Validator]:
    """The validators of an operation's header parameters, by their names in lower case."""
    found = {}
    for parameter in operations()[operation].get("parameters", []):
        meant = resolve(parameter)
        if meant["in"] == "header":
            schema = {**meant["schema"], "components": whole()["components"]}
            found[meant["name"].lower()] = jsonschema_rs.Draft202012Validator(schema)
    return found


def resolve(part: dict[str, Any]) -> dict[str, Any]:
    """The part, or what it refers to."""
    if "$ref" not in part:
        return part
    found: Any = whole()
    for name in part["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    return dict(found)


def has_limit(operation: str) -> bool:
    """Whether an operation may be answered with 429."""
    return "429" in operations()[operation]["responses"]
