"""Anthropic's Messages."""

from pytest_tripwire.models.wire.messages.dialect import AnthropicMessages

__all__ = ["AnthropicMessages"]
