"""Telemetry as runs: spans of the conventions for generative AI, by new names and old ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.replay.problem import Problem
from pytest_tripwire.replay.reading import Grouping
from pytest_tripwire.replay.reading.span import Kind, kind_of
from pytest_tripwire.replay.trace import MODEL_REQUEST, USER_MESSAGE, Trace
from pytest_tripwire.timeline import Effect

Make = Callable[..., Any]


def value(given: Any) -> dict[str, Any]:
    """A value as the protocol writes it."""
    if isinstance(given, bool):
        return {"boolValue": given}
    if isinstance(given, int):
        return {"intValue": str(given)}
    if isinstance(given, float):
        return {"doubleValue": given}
    if isinstance(given, list):
        return {"arrayValue": {"values": [value(each) for each in given]}}
    if isinstance(given, dict):
        return {"kvlistValue": {"values": pairs(given)}}
    return {"stringValue": given} if given is not None else {}


def pairs(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": name, "value": value(given)} for name, given in attributes.items()]


def span(id: str, start: float, end: float, parent: str = "", **fields: Any) -> dict[str, Any]:  # noqa: A002
    """A span from `start` to `end`, in seconds; other keywords are its fields."""
    attributes = fields.pop("attributes", {})
    return {
        "traceId": fields.pop("trace", "t1"),
        "spanId": id,
        "parentSpanId": parent,
        "name": fields.pop("name", id),
        "startTimeUnixNano": str(10**18 + round(start * 10**9)),
        "endTimeUnixNano": str(10**18 + round(end * 10**9)),
        "attributes": pairs(attributes),
        **fields,
    }


def tool(id: str, start: float, end: float, name: str = "look", **fields: Any) -> dict[str, Any]:  # noqa: A002
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        **fields.pop("attributes", {}),
    }
    return span(id, start, end, attributes=attributes, **fields)


def chat(id: str, start: float, end: float, **fields: Any) -> dict[str, Any]:  # noqa: A002
    attributes = {"gen_ai.operation.name": "chat", **fields.pop("attributes", {})}
    return span(id, start, end, attributes=attributes, **fields)


def agent(id: str, start: float, end: float, name: str, **fields: Any) -> dict[str, Any]:  # noqa: A002
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": name,
        **fields.pop("attributes", {}),
    }
    return span(id, start, end, attributes=attributes, **fields)


def export(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": list(spans)}]}]}


@pytest.fixture
def one(written: Make, items: Make) -> Make:
    """The one trace of some spans."""

    def read(*spans: dict[str, Any], **how: Any) -> Trace:
        (found,) = items(written("spans.json", export(*spans)), **how)
        assert isinstance(found, Trace), found
        return found

    return read


USED = {
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 20,
    "gen_ai.usage.cost": 0.25,
}


def test_a_run_is_told_from_its_spans(one: Make) -> None:
    arguments = {"order": "A-1", "n": 2, "tags": ["x"], "deep": {"f": 0.5, "none": None}}
    trace = one(
        agent("a", 0, 9, "support"),
        chat("c1", 1, 2, parent="a", attributes=USED),
        tool(
            "t",
            3,
            4.5,
            parent="a",
            attributes={
                "gen_ai.tool.call.arguments": arguments,
                "gen_ai.tool.call.result": json.dumps({"state": "open"}),
            },
        ),
        chat("c2", 5, 8, parent="a"),
    )

    call, answer = trace.steps
    assert (trace.id, trace.line, call.tool) == ("t1", 1, "look")
    assert call.args == arguments
    assert call.outcome.result == {"state": "open"}
    assert (call.agent, call.turn, call.elapsed_s, call.at_s) == ("support", 1, 1.5, 3)
    assert (call.prompt_tokens, call.completion_tokens) == (100, 20)
    assert call.cost_usd == Decimal("0.25")
    assert (call.effect, call.args_known, call.result_known) == (None, True, True)
    assert (answer.tool, answer.is_event, answer.turn) == (MODEL_REQUEST, True, 2)
    assert (answer.elapsed_s, answer.at_s, answer.cost_usd) == (3, 5, None)


OLD_NAMES = {
    "the conventions, structured": {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.arguments": {"order": "A-1"},
        "gen_ai.tool.call.result": {"state": "open"},
    },
    "the Model Context Protocol": {
        "mcp.method.name": "tools/call",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.arguments": '{"order": "A-1"}',
        "gen_ai.tool.call.result": '{"state": "open"}',
    },
    "an attribute each": {
        "gen_ai.tool.name": "look",
        "tool_arguments": '{"order": "A-1"}',
        "tool_response": '{"state": "open"}',
    },
    "OpenInference": {
        "openinference.span.kind": "TOOL",
        "tool.name": "look",
        "input.value": '{"order": "A-1"}',
        "output.value": '{"state": "open"}',
    },
    "OpenLLMetry": {
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": "look",
        "traceloop.entity.input": '{"order": "A-1"}',
        "traceloop.entity.output": '{"state": "open"}',
    },
    "the AI SDK": {
        "ai.operationId": "ai.toolCall",
        "ai.toolCall.name": "look",
        "ai.toolCall.args": '{"order": "A-1"}',
        "ai.toolCall.result": '{"state": "open"}',
    },
}


@pytest.mark.parametrize("names", OLD_NAMES)
def test_a_call_is_known_by_the_names_of(names: str, one: Make) -> None:
    trace = one(span("t", 0, 1, attributes=OLD_NAMES[names]))

    (call,) = trace.steps
    assert (call.tool, call.args, call.outcome.result) == (
        "look",
        {"order": "A-1"},
        {"state": "open"},
    )


@pytest.mark.parametrize(
    ("attributes", "name", "kind"),
    [
        ({"gen_ai.operation.name": "chat"}, "", Kind.MODEL),
        ({"gen_ai.operation.name": "generate_content"}, "", Kind.MODEL),
        ({"gen_ai.operation.name": "text_completion"}, "", Kind.MODEL),
        ({"openinference.span.kind": "LLM"}, "", Kind.MODEL),
        ({"llm.request.type": "chat"}, "", Kind.MODEL),
        ({"ai.operationId": "ai.generateText.doGenerate"}, "", Kind.MODEL),
        ({"gen_ai.usage.prompt_tokens": 7}, "", Kind.MODEL),
        ({"gen_ai.operation.name": "invoke_agent"}, "", Kind.AGENT),
        ({"openinference.span.kind": "AGENT"}, "", Kind.AGENT),
        ({}, "invoke_agent support", Kind.AGENT),
        ({}, "execute_tool look", Kind.TOOL),
        ({"gen_ai.operation.name": "embeddings", "gen_ai.usage.input_tokens": 7}, "", Kind.OTHER),
        ({"openinference.span.kind": "EMBEDDING", "llm.token_count.prompt": 7}, "", Kind.OTHER),
        ({"mcp.method.name": "tools/list"}, "", Kind.OTHER),
        ({"traceloop.span.kind": "task", "traceloop.entity.name": "x"}, "", Kind.OTHER),
        ({"http.request.method": "GET"}, "GET", Kind.OTHER),
        ({"gen_ai.operation.name": ["chat"]}, "", Kind.OTHER),
    ],
)
def test_what_a_span_tells_of(attributes: dict[str, Any], name: str, kind: Kind) -> None:
    assert kind_of(attributes, name) is kind


def test_a_tool_may_be_named_by_its_span_alone(one: Make) -> None:
    assert one(span("t", 0, 1, name="execute_tool look")).steps[0].tool == "look"


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"gen_ai.usage.input_tokens": 5, "gen_ai.usage.output_tokens": 6}, (5, 6)),
        ({"gen_ai.usage.prompt_tokens": 5, "gen_ai.usage.completion_tokens": 6}, (5, 6)),
        ({"llm.token_count.prompt": 5, "llm.token_count.completion": 6}, (5, 6)),
        ({"ai.usage.promptTokens": 5, "ai.usage.completionTokens": 6}, (5, 6)),
        ({"gen_ai.usage.input_tokens": -5, "gen_ai.usage.output_tokens": "many"}, (None, None)),
        ({}, (None, None)),
    ],
)
def test_usage_is_known_by_several_names(
    usage: dict[str, Any], tokens: tuple[Any, Any], one: Make
) -> None:
    (step,) = one(chat("c", 0, 1, attributes=usage)).steps

    assert (step.prompt_tokens, step.completion_tokens) == tokens


@pytest.mark.parametrize("cost", ["NaN", "-1", "free", "1e99", float("nan")])
def test_a_cost_that_is_none_is_unknown_and_not_zero(cost: Any, one: Make) -> None:
    written = {"doubleValue": "NaN"} if cost != cost else value(cost)  # noqa: PLR0124 - not a number
    step = chat("c", 0, 1)
    step["attributes"].append({"key": "gen_ai.usage.cost", "value": written})

    assert one(step).steps[0].cost_usd is None


def test_content_that_was_not_captured_is_known_to_be_unknown(one: Make) -> None:
    call, failed = one(
        tool("t1", 0, 1), tool("t2", 2, 3, attributes={"error.type": "ValueError"})
    ).steps

    assert (call.args, call.args_known, call.result_known) == ({}, False, False)
    assert (failed.args_known, failed.result_known) == (False, True)


@pytest.mark.parametrize(
    ("given", "args"),
    [
        ("", {}),
        ("null", {}),
        ("{}", {}),
        ("not json", {"input": "not json"}),
        ("[1, 2]", {"input": [1, 2]}),
        (7, {"input": 7}),
        ("[" * 5000, {"input": "[" * 5000}),
    ],
)
def test_arguments_are_always_by_name(given: Any, args: dict[str, Any], one: Make) -> None:
    (step,) = one(tool("t", 0, 1, attributes={"gen_ai.tool.call.arguments": given})).steps

    assert (step.args, step.args_known) == (args, True)


@pytest.mark.parametrize(
    ("fields", "status", "error"),
    [
        ({"status": {"code": 2, "message": "no stock"}}, "error", "no stock"),
        ({"status": {"code": "STATUS_CODE_ERROR"}}, "error", "failed"),
        ({"status": {"code": 1}}, "ok", None),
        ({"attributes": {"error.type": "ValueError"}}, "error", "ValueError"),
        ({"attributes": {"error.type": "timeout"}}, "timeout", "timeout"),
        ({"attributes": {"error.type": "httpx.ReadTimeout"}}, "timeout", "httpx.ReadTimeout"),
        ({"attributes": {"error.type": "DEADLINE_EXCEEDED"}}, "timeout", "DEADLINE_EXCEEDED"),
        ({"attributes": {"error.type": "504"}}, "timeout", "504"),
        ({"attributes": {"error.type": "403"}}, "denied", "403"),
        ({"attributes": {"error.type": "acme.PermissionDeniedError"}}, "denied", None),
        ({"attributes": {"error.type": "4031"}}, "error", "4031"),
        (
            {
                "attributes": {
                    "error.type": "tool_error",
                    "gen_ai.tool.call.result": '{"isError": true}',
                }
            },
            "error",
            {"isError": True},
        ),
        (
            {
                "status": {"code": 2},
                "events": [
                    {
                        "name": "exception",
                        "attributes": pairs(
                            {"exception.type": "KeyError", "exception.message": "order"}
                        ),
                    }
                ],
            },
            "error",
            "KeyError: order",
        ),
    ],
)
def test_what_a_call_came_back_with(
    fields: dict[str, Any], status: str, error: Any, one: Make
) -> None:
    (step,) = one(tool("t", 0, 1, **fields)).steps

    assert step.outcome.status == status
    assert error is None or step.outcome.error == error
    assert step.outcome.result is None


class TestTurns:
    """Which request proposed a call."""

    def test_the_latest_request_of_the_same_agent(self, one: Make) -> None:
        trace = one(
            agent("a", 0, 9, "planner"),
            agent("b", 0, 9, "writer"),
            chat("ca", 1, 2, parent="a"),
            chat("cb", 1.5, 2, parent="b"),
            tool("ta", 3, 4, parent="a"),
            tool("tb", 3.5, 4, parent="b"),
            tool("tc", 5, 6),
        )

        assert [(step.agent, step.turn) for step in trace.steps] == [
            ("planner", 1),
            ("writer", 2),
            (None, 2),
        ]

    def test_the_request_whose_answer_names_the_call(self, one: Make) -> None:
        answer = [
            {
                "role": "assistant",
                "parts": [
                    {"type": "text", "content": "I will look."},
                    {"type": "tool_call", "id": "call-7", "name": "look"},
                ],
            }
        ]
        trace = one(
            chat("c1", 0, 1, attributes={"gen_ai.output.messages": json.dumps(answer)}),
            chat("c2", 1, 2),
            tool("t1", 3, 4, attributes={"gen_ai.tool.call.id": "call-7"}),
            tool("t2", 4, 5, attributes={"gen_ai.tool.call.id": "call-8"}),
        )

        assert [(step.tool, step.turn) for step in trace.steps] == [("look", 1), ("look", 2)]
        assert trace.steps[0].text == "I will look."

    def test_without_requests_each_call_is_a_turn_of_its_own(self, one: Make) -> None:
        assert [step.turn for step in one(tool("a", 0, 1), tool("b", 1, 2)).steps] == [None, None]

    def test_the_first_call_of_a_turn_carries_what_the_request_used(self, one: Make) -> None:
        trace = one(chat("c", 0, 1, attributes=USED), tool("a", 2, 3), tool("b", 2, 3))

        assert [step.turn for step in trace.steps] == [1, 1]
        assert [step.prompt_tokens for step in trace.steps] == [100, None]


class TestTwiceTold:
    """One call that two instrumentations tell of is one call."""

    def test_by_a_framework_and_a_protocol(self, one: Make) -> None:
        inner = {
            "mcp.method.name": "tools/call",
            "gen_ai.tool.name": "look",
            "gen_ai.tool.call.arguments": '{"order": "A-1"}',
        }
        trace = one(
            tool("outer", 0, 3),
            span("http", 0.5, 3, parent="outer"),
            span("inner", 1, 2, parent="http", attributes=inner),
            span("server", 1.2, 1.8, parent="inner", attributes=inner),
        )

        (step,) = trace.steps
        assert (step.args, step.elapsed_s, step.result_known) == ({"order": "A-1"}, 3, False)

    def test_by_a_framework_and_a_client_of_the_model(self, one: Make) -> None:
        trace = one(chat("outer", 0, 3), chat("inner", 1, 2, parent="outer"))

        assert len(trace.steps) == 1

    def test_but_not_a_tool_within_another(self, one: Make) -> None:
        trace = one(tool("outer", 0, 3, name="research"), tool("in", 1, 2, parent="outer"))

        assert [step.tool for step in trace.steps] == ["research", "look"]

    def test_nor_a_tool_within_an_agent_within_the_same_tool(self, one: Make) -> None:
        trace = one(
            tool("outer", 0, 3), agent("a", 1, 3, "x", parent="outer"), tool("in", 2, 3, parent="a")
        )

        assert len(trace.steps) == 2

    def test_nor_the_same_span_that_was_exported_again(self, one: Make) -> None:
        assert len(one(tool("t", 0, 1), tool("t", 0, 1)).steps) == 1

    def test_and_spans_without_id_are_all_told(self, one: Make) -> None:
        assert len(one(tool("", 0, 1), tool("", 1, 2)).steps) == 2

    def test_parents_in_a_ring_end(self, one: Make) -> None:
        trace = one(
            span("x", 0, 9, parent="y"), span("y", 0, 9, parent="x"), tool("t", 1, 2, parent="x")
        )

        assert len(trace.steps) == 1

    def test_calls_in_a_ring_are_all_told(self, one: Make) -> None:
        trace = one(
            tool("x", 0, 1, parent="y"),
            tool("y", 1, 2, parent="x"),
            tool("z", 2, 3, parent="z"),
            tool("in", 3, 4, parent="x"),
        )

        assert [step.at_s for step in trace.steps] == [0, 1, 2, 3]

    def test_of_many_within_one_another_the_outermost_counts(self, one: Make) -> None:
        deep = [tool(str(n), n, 2000 - n, parent=str(n - 1)) for n in range(1, 900)]

        assert [step.at_s for step in one(tool("0", 0, 2000), *deep).steps] == [0]


class TestEffect:
    """What a tool does, where telemetry says it."""

    @pytest.mark.parametrize(
        ("attributes", "effect"),
        [
            ({}, None),
            ({"tripwire.effect": "write"}, Effect.WRITE),
            ({"tripwire.effect": "odd"}, None),
            ({"mcp.tool.annotations.readOnlyHint": True}, Effect.READ),
            ({"mcp.tool.annotations.readOnlyHint": False}, Effect.WRITE),
            ({"mcp.tool.annotations.readOnlyHint": "yes"}, None),
        ],
    )
    def test_by_its_own_span(
        self, attributes: dict[str, Any], effect: Effect | None, one: Make
    ) -> None:
        assert one(tool("t", 0, 1, attributes=attributes)).steps[0].effect is effect

    def test_by_the_definition_that_the_model_was_sent(self, one: Make) -> None:
        definitions = [
            {"name": "look", "annotations": {"readOnlyHint": True}},
            {"name": "pay", "annotations": {"readOnlyHint": False}},
            {"name": "wait", "annotations": {}},
            "odd",
        ]
        trace = one(
            chat("c", 0, 1, attributes={"gen_ai.tool.definitions": json.dumps(definitions)}),
            tool("a", 2, 3),
            tool("b", 3, 4, name="pay"),
            tool("d", 4, 5, name="wait"),
        )

        assert [step.effect for step in trace.steps] == [Effect.READ, Effect.WRITE, None]


def in_talk(spans: list[dict[str, Any]], talk: str = "talk-1") -> list[dict[str, Any]]:
    for each in spans:
        each["attributes"] += pairs({"gen_ai.conversation.id": talk})
    return spans


class TestRuns:
    """Which spans make a run."""

    def test_a_trace_in_whatever_order_lines_and_files_its_spans_are(
        self, written: Make, items: Make
    ) -> None:
        first = written("a.jsonl", [export(tool("t3", 5, 6)), export(tool("x", 0, 1, trace="t2"))])
        second = written("b.jsonl", [export(tool("t2", 3, 4), tool("t1", 1, 2))])

        found = items(first, second)

        assert [(trace.id, len(trace.steps)) for trace in found] == [("t2", 1), ("t1", 3)]
        assert [step.at_s for step in found[1].steps] == [0, 2, 4]

    def test_a_conversation_of_several_traces(self, one: Make) -> None:
        spans = [
            agent("a", 0, 2, "x", trace="t1"),
            tool("ta", 1, 2, parent="a", trace="t1"),
            agent("b", 1000, 1002, "x", trace="t2"),
            tool("tb", 1001, 1002, parent="b", trace="t2"),
        ]

        trace = one(*in_talk(spans))

        assert trace.id == "talk-1"
        assert [step.tool for step in trace.steps] == ["look", USER_MESSAGE, "look"]
        assert [step.at_s for step in trace.steps] == [1, 2, 3]

    def test_a_trace_for_each_request_is_no_new_message(self, one: Make) -> None:
        trace = one(*in_talk([tool("a", 0, 1, trace="t1"), tool("b", 9, 10, trace="t2")]))

        assert [step.at_s for step in trace.steps] == [0, 9]

    def test_traces_side_by_side_are_no_new_message(self, one: Make) -> None:
        spans = [agent("a", 0, 5, "x", trace="t1"), tool("ta", 1, 2, parent="a", trace="t1")]
        spans += [agent("b", 3, 9, "x", trace="t2"), tool("tb", 4, 6, parent="b", trace="t2")]

        trace = one(*in_talk(spans))

        assert [step.at_s for step in trace.steps] == [1, 4]

    def test_traces_alone_if_that_is_asked_for(self, written: Make, items: Make) -> None:
        spans = in_talk([tool("a", 0, 1, trace="t1"), tool("b", 9, 10, trace="t2")])

        found = items(written("spans.json", export(*spans)), grouping=Grouping.TRACE)

        assert [trace.id for trace in found] == ["t1", "t2"]

    def test_a_trace_of_two_conversations_is_a_run_of_its_own(self, one: Make) -> None:
        spans = [*in_talk([tool("a", 0, 1)], "talk-1"), *in_talk([tool("b", 1, 2)], "talk-2")]

        assert one(*spans).id == "t1"

    def test_a_message_may_come_at_once(self, one: Make) -> None:
        spans = [agent("a", 0, 2, "x"), tool("ta", 1, 2, parent="a")]
        spans += [agent("b", 2, 4, "x", trace="t2"), tool("tb", 3, 4, parent="b", trace="t2")]

        assert [step.tool for step in one(*in_talk(spans)).steps] == ["look", USER_MESSAGE, "look"]

    def test_the_workflow_class_is_what_the_workflow_says(self, one: Make) -> None:
        workflow = {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": "refunds",
        }

        assert one(span("w", 0, 9, attributes=workflow), tool("t", 1, 2)).workflow == "refunds"

    def test_what_is_neither_model_nor_tool_makes_no_run(self, written: Make, items: Make) -> None:
        path = written("spans.json", export(tool("t", 0, 1), span("get", 0, 1, trace="t2")))

        assert [trace.id for trace in items(path)] == ["t1"]

    def test_names_of_older_envelopes(self, written: Make, items: Make) -> None:
        library = {"batches": [{"instrumentationLibrarySpans": [{"spans": [tool("t", 0, 1)]}]}]}

        assert len(items(written("spans.json", library))) == 1


WRONG_SPANS: dict[str, tuple[dict[str, Any], str]] = {
    "no trace": ({"traceId": ""}, "belongs to no run"),
    "a time that is none": ({"startTimeUnixNano": "noon"}, "noon"),
    "a time before all times": ({"startTimeUnixNano": -5}, "no time in nanoseconds"),
    "a time after all times": ({"endTimeUnixNano": str(2**64)}, "no time in nanoseconds"),
    "attributes that are none": ({"attributes": {"a": 1}}, "`$.attributes`"),
    "a number that is none": (
        {"attributes": [{"key": "gen_ai.tool.name", "value": {"intValue": "x"}}]},
        "invalid literal",
    ),
    "a number that is too large": (
        {"attributes": [{"key": "gen_ai.tool.name", "value": {"intValue": "9" * 30}}]},
        "range",
    ),
    "a span that is none": ({"spanId": 7}, "`$.spanId`"),
}


@pytest.mark.parametrize("wrong", WRONG_SPANS)
def test_one_wrong_span_costs_no_other(wrong: str, written: Make, items: Make) -> None:
    change, complaint = WRONG_SPANS[wrong]
    path = written(
        "spans.jsonl", [export(), export({**tool("x", 0, 1), **change}, tool("t", 0, 1))]
    )

    problem, trace = items(path)

    assert isinstance(problem, Problem)
    assert complaint in problem.reason
    assert problem.line == 2
    assert len(trace.steps) == 1


def test_a_span_that_ends_before_it_begins_keeps_its_call(written: Make, items: Make) -> None:
    problem, trace = items(written("spans.json", export(tool("t", 5, 4))))

    assert "ends before it begins" in problem.reason
    assert trace.steps[0].elapsed_s is None


@pytest.mark.parametrize(
    ("number", "fits"),
    [(2**63 - 1, True), (2**63, False), (-(2**63), True), (-(2**63) - 1, False)],
)
def test_whole_numbers_have_64_bits(number: int, *, fits: bool, written: Make, items: Make) -> None:
    arguments = {"gen_ai.tool.call.arguments": {"n": number}}

    first = items(written("spans.json", export(tool("t", 0, 1, attributes=arguments))))[0]

    assert isinstance(first, Trace) is fits
    assert not fits or first.steps[0].args == {"n": number}


def test_a_time_may_be_as_late_as_can_be_kept(one: Make) -> None:
    late = {**tool("t", 0, 1), "startTimeUnixNano": str(2**63 - 1), "endTimeUnixNano": 0}

    assert len(one(late).steps) == 1


@pytest.mark.parametrize("wrong", [5, [5], [{"scopeSpans": 5}]])
def test_an_export_that_is_none_is_a_problem(wrong: Any, written: Make, items: Make) -> None:
    first, *_ = items(written("spans.jsonl", [{"resourceSpans": wrong}]))

    assert isinstance(first, Problem)
    assert "$.resourceSpans" in first.reason


def test_what_was_free_is_known_to_be_free(one: Make) -> None:
    free = {"gen_ai.usage.input_tokens": 0, "gen_ai.usage.cost": 0.0}

    (step,) = one(chat("c", 0, 1, attributes=free)).steps

    assert (step.prompt_tokens, step.cost_usd) == (0, 0)


@pytest.mark.parametrize(
    "output",
    [
        "text",
        "[1]",
        '[{"parts": 1}]',
        '[{"parts": [1, {}, {"type": "tool_call"}, {"id": "x", "content": "y"}]}]',
    ],
)
def test_an_answer_of_another_shape_is_passed_over(output: str, one: Make) -> None:
    trace = one(
        chat("c1", 0, 1, attributes={"gen_ai.output.messages": output}),
        chat("c2", 1, 2),
        tool("t", 3, 4, attributes={"gen_ai.tool.call.id": "x"}),
    )

    assert [(step.turn, step.text) for step in trace.steps] == [(1, None), (2, None)]


def test_a_span_of_no_length_takes_no_time(one: Make) -> None:
    assert one(tool("t", 5, 5)).steps[0].elapsed_s == 0


def test_an_exception_of_a_request_is_no_outcome_of_a_call(one: Make) -> None:
    event = {"name": "note", "attributes": pairs({"exception.message": "no"})}

    (step,) = one(tool("t", 0, 1, status={"code": 2, "message": "down"}, events=[event])).steps

    assert step.outcome.error == "down"


def test_a_span_that_never_ended_takes_an_unknown_time(one: Make) -> None:
    assert one({**tool("t", 5, 6), "endTimeUnixNano": 0}).steps[0].elapsed_s is None


def test_both_formats_may_stand_in_one_file(recorded: Make, written: Make, items: Make) -> None:
    path = written("mixed.jsonl", [export(tool("t", 0, 1)), recorded("a")])

    assert [trace.id for trace in items(path)] == ["a", "t1"]


@given(st.permutations(range(6)), st.data())
def test_the_order_of_spans_does_not_matter(order: list[int], data: st.DataObject) -> None:
    from pytest_tripwire.replay.reading.otlp import OtlpSpans
    from pytest_tripwire.replay.reading.values import Value

    spans = [
        agent("a", 0, 9, "x"),
        chat("c", 1, 2, parent="a", attributes=USED),
        tool("t1", 3, 4, parent="a", attributes={"gen_ai.tool.call.arguments": '{"n": 1}'}),
        tool("t2", 3.5, 4, parent="a"),
        chat("d", 5, 6, parent="a"),
        span("http", 5, 6, parent="d"),
    ]

    def read(spans: list[dict[str, Any]], cut: int) -> Any:
        reader = OtlpSpans()
        for part in (spans[:cut], spans[cut:]):
            text = json.dumps(export(*part)).encode()
            assert not list(reader.add(Value(file="x", line=1, data=text)))
        found = list(reader.finish())
        reader.close()
        return found

    cut = data.draw(st.integers(0, 6))

    assert read([spans[n] for n in order], cut) == read(spans, 3)


def test_one_id_of_many_calls_is_that_of_the_latest_request_that_names_it(one: Make) -> None:
    proposed = json.dumps(
        [{"role": "assistant", "parts": [{"type": "tool_call", "id": "call_0", "name": "look"}]}]
    )
    spans = []
    for number in range(3):
        at = number * 10
        spans.append(
            chat(f"c{number}", at, at + 1, attributes={"gen_ai.output.messages": proposed})
        )
        spans.append(
            tool(f"t{number}", at + 2, at + 3, attributes={"gen_ai.tool.call.id": "call_0"})
        )

    trace = one(*spans)

    assert [step.tool for step in trace.steps] == ["look"] * 3
    assert [step.turn for step in trace.steps] == [1, 2, 3]
