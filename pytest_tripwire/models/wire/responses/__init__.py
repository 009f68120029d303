"""OpenAI's Responses."""

from pytest_tripwire.models.wire.responses.dialect import Responses

__all__ = ["Responses"]
