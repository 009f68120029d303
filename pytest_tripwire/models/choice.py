"""What a request lets the model call: its `tool_choice` in neutral terms."""

from __future__ import annotations

from typing import Literal

import msgspec


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the model may, must or must not call a tool.

    Args:
        kind: `auto`: as the model likes; `none`: no tool; `required`: some tool; `tool`: one
            certain tool.
        tool: its name, for the kind `tool`.
    """

    kind: Literal["auto", "none", "required", "tool"] = "auto"
    tool: str = ""

    @property
    def forced(self) -> bool:
        """Whether the model has to call a tool, whatever it has to say."""
        return self.kind in ("required", "tool")


AUTO = Choice()
