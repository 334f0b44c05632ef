"""Values of a recipe against the types that a dataclass declares, with YAML's own ideas undone."""

from __future__ import annotations

import typing
from dataclasses import fields
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union


@cache
def field_hints(config: type) -> dict[str, Any]:
    """Field name to resolved type hint, of the fields that a caller may set."""
    hints = typing.get_type_hints(config)
    return {item.name: hints[item.name] for item in fields(config) if item.init}


def coerce(value: Any, hint: Any) -> tuple[Any, bool]:
    """The value as the hint wants it, and whether it fits."""
    origin = typing.get_origin(hint)
    if origin in (Union, UnionType):
        return _coerce_union(value, typing.get_args(hint))
    if origin is Literal:
        return value, value in typing.get_args(hint)
    if origin in (list, tuple):
        return _coerce_list(value, typing.get_args(hint))
    if hint in (int, float):
        return _number(value, hint)
    if hint in (bool, str, NoneType, dict) or origin is dict:
        return value, isinstance(value, origin or hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        # YAML 1.1 reads a bare `no` as false
        text = "no" if value is False else value
        return text, text in [member.value for member in hint]
    # our libraries' own classes: the TRL config checks these itself
    return value, value is not None


def _coerce_union(value: Any, options: tuple[Any, ...]) -> tuple[Any, bool]:
    """The first option that keeps the value's type, else the first that can take it."""
    if any(isinstance(option, type) and issubclass(option, Enum) for option in options):
        # `SaveStrategy | str` means a name of the enum, not any text
        options = tuple(option for option in options if option is not str)
    fitting = [coerced for coerced, ok in (coerce(value, option) for option in options) if ok]
    same = [coerced for coerced in fitting if type(coerced) is type(value)]
    return ((same or fitting)[0], True) if fitting else (value, False)


def _coerce_list(value: Any, arguments: tuple[Any, ...]) -> tuple[Any, bool]:
    items = value if isinstance(value, list) else [value]
    if not arguments:
        return items, True
    pairs = [coerce(item, arguments[0]) for item in items]
    return [item for item, _ in pairs], all(ok for _, ok in pairs)


def _number(value: Any, kind: Any) -> tuple[Any, bool]:
    # YAML 1.1 reads `1e-4` as text
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return value, False
    try:
        number = float(value)
    except ValueError:
        return value, False
    if kind is int:
        return (int(number), True) if number.is_integer() else (value, False)
    return number, True


def type_name(hint: Any) -> str:
    """The hint in words, for an error message."""
    origin = typing.get_origin(hint)
    if origin in (Union, UnionType):
        return " or ".join(type_name(option) for option in typing.get_args(hint))
    if origin is Literal:
        return "one of " + ", ".join(map(str, typing.get_args(hint)))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return "one of " + ", ".join(str(member.value) for member in hint)
    names = {bool: "true or false", float: "a number", int: "a whole number", str: "text", NoneType: "null"}
    return names.get(hint, "a list" if origin is list else getattr(hint, "__name__", str(hint)))
