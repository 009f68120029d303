"""OpenAI's Chat Completions."""

from pytest_tripwire.models.wire.chat.dialect import ChatCompletions

__all__ = ["ChatCompletions"]
