"""One agent as LangChain's documentation builds it, with checkpoints of LangGraph's."""

import itertools
from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain.messages import ToolMessage
from langchain.tools.tool_node import ToolCallRequest
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from pytest_tripwire import Task

#: Steps of the graph, two for a turn. The default is in the thousands.
RECURSION_LIMIT = 150
INSTRUCTIONS = "You help the customers of a shop. Use the tools; make nothing up."


class Support:
    """Answers customers. Its checkpoints outlive a call, its graph and tools do not."""

    def __init__(self) -> None:
        self._checkpoints = InMemorySaver()
        self._threads = itertools.count(1)
        self._thread = ""

    def __call__(self, task: Task) -> str:
        """Answer the task's prompt; with the operator's word, go on in the same thread."""
        said = f"The operator says: {task.resume.decision}." if task.resume else task.prompt
        if task.resume is None:
            self._thread = f"conversation-{next(self._threads)}"
        agent = create_agent(
            ChatOpenAI(
                model=task.model.name,
                base_url=task.model.base_url("openai"),
                api_key=task.model.api_key,
                use_responses_api=False,
            ),
            tools=list(task.tools.values()),
            system_prompt=INSTRUCTIONS,
            middleware=[tell_errors],
            checkpointer=self._checkpoints,
        )
        ended = agent.invoke(
            {"messages": [{"role": "user", "content": said}]},
            {"configurable": {"thread_id": self._thread}, "recursion_limit": RECURSION_LIMIT},
        )
        return str(ended["messages"][-1].content)


@wrap_tool_call
def tell_errors(
    request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]
) -> ToolMessage | Any:
    """What a tool raises would end the run; the model is told of it, as it might know better."""
    try:
        return handler(request)
    except Exception as error:
        said = f"Tool error: {type(error).__name__}: {error}"
        return ToolMessage(said, tool_call_id=request.tool_call["id"], status="error")
