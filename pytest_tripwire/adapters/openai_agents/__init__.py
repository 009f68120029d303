"""The OpenAI Agents SDK: its tools and agents with other bodies, and its agents guarded."""

from pytest_tripwire.adapters.openai_agents.adopting import adopt, tools
from pytest_tripwire.adapters.openai_agents.functions import definition
from pytest_tripwire.adapters.openai_agents.guarding import guarded
from pytest_tripwire.adapters.openai_agents.hooks import Hooks, StoppedError
from pytest_tripwire.adapters.openai_agents.metered import metered

__all__ = ["Hooks", "StoppedError", "adopt", "definition", "guarded", "metered", "tools"]
