"""Reads and writes cassettes in the format of vcrpy."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]
from vcr.request import Request  # type: ignore[import-untyped]
from vcr.serialize import deserialize, serialize  # type: ignore[import-untyped]
from vcr.util import read_body  # type: ignore[import-untyped]

from pytest_tripwire.models.cassettes.errors import CassetteError
from pytest_tripwire.models.cassettes.interaction import Got, Headers, Interaction, Sent


class _PlainYaml:
    """A serializer for vcrpy that reads and writes plain values only, whatever vcrpy's own does."""

    # Those written in C are many times faster, and not built everywhere.
    _loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    _dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    @classmethod
    def deserialize(cls, text: str) -> Any:
        """The plain values of a text. Raises YAMLError for any other."""
        return yaml.load(text, Loader=cls._loader)  # noqa: S506 - both loaders are safe ones

    @classmethod
    def serialize(cls, value: Any) -> str:
        """A text of plain values."""
        return str(yaml.dump(value, Dumper=cls._dumper))


def load(path: Path, shown: str) -> tuple[Interaction, ...] | None:
    """What a file holds; None if there is none.

    Raises:
        CassetteError: for a file that is no cassette, or a broken one. It is left as it is.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _broken(shown, error) from None
    try:
        requests, responses, *_ = deserialize(text, _PlainYaml)
        return tuple(
            Interaction(sent=sent_of(request), got=got_of(response))
            for request, response in zip(requests, responses, strict=True)
        )
    except Exception as error:  # noqa: BLE001 - what a strange file makes of a parser is not known
        raise _broken(shown, error) from None


def _broken(shown: str, error: Exception) -> CassetteError:
    # The name alone: what a parser says quotes the file, which may be anything.
    return CassetteError(
        f"{shown} is no cassette, or a broken one ({type(error).__name__}). It was left as it is: "
        "restore it, or delete it and record again"
    )


def save(path: Path, interactions: Iterable[Interaction]) -> None:
    """Write a cassette, whole or not at all."""
    kept = list(interactions)
    contents = {
        "requests": [_request(each.sent) for each in kept],
        "responses": [response_of(each.got) for each in kept],
    }
    text = str(serialize(contents, _PlainYaml))
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".tripwire-", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        # A temporary file is the writer's alone; a cassette is committed and read by all.
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def sent_of(request: Any) -> Sent:
    """A request of vcrpy's as a value."""
    return Sent(
        method=str(request.method),
        uri=str(request.uri),
        headers=_headers(request.headers),
        body=_bytes(read_body(request)),
    )


def got_of(response: Any) -> Got:
    """A response of vcrpy's as a value."""
    return Got(
        status=int(response["status"]["code"]),
        reason=str(response["status"].get("message") or ""),
        headers=_headers(response["headers"]),
        body=_bytes(response["body"].get("string")),
    )


def response_of(got: Got) -> dict[str, Any]:
    """A value as a response of vcrpy's; a new one each time, as clients change it."""
    return {
        "status": {"code": got.status, "message": got.reason},
        "headers": {name: list(values) for name, values in got.headers.items()},
        "body": {"string": got.body},
    }


def _request(sent: Sent) -> Any:
    headers = {name: ", ".join(values) for name, values in sent.headers.items()}
    return Request(sent.method, sent.uri, sent.body or None, headers)


def _headers(headers: Any) -> Headers:
    return {_text(name): _values(value) for name, value in dict(headers).items()}


def _values(value: Any) -> tuple[str, ...]:
    if isinstance(value, list | tuple):
        return tuple(_text(each) for each in value)
    return (_text(value),)


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _bytes(value: Any) -> bytes:
    if value is None:
        return b""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if not isinstance(value, str):
        # aiohttp is met before it has made text of what it is given.
        value = json.dumps(value, default=_told)
    return str(value).encode("utf-8", "surrogatepass")


def _told(value: Any) -> Any:
    """What JSON has no form for, so that it is told from any other of its kind."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).decode("utf-8", "backslashreplace")
    fields = getattr(value, "_fields", None)
    if type(value).__name__ == "FormData" and isinstance(fields, list):
        # A form of aiohttp's can be written once, and has to be left for that.
        return [[dict(options), dict(headers), each] for options, headers, each in fields]
    return type(value).__name__
