"""The knowledge base: articles by topic, searched in words, page by page."""

# ruff: noqa: ARG001 - an agent is shown these signatures; the bodies never run
from __future__ import annotations

from typing import Any

from pytest_tripwire.timeline import Effect
from pytest_tripwire.world.operation import Done, Operation, Slots
from pytest_tripwire.world.records import Records
from pytest_tripwire.world.roles import CURSOR, RESOURCE, WORDING, Role


def search_articles(topic: str, query: str, page: int = 1) -> dict[str, Any]:
    """Search the knowledge base.

    Args:
        topic: the product or subject that the question is about.
        query: what to look for, in your own words.
        page: which page of the results.
    """
    return {}


def topic_name(slots: Slots) -> str:
    """The business's own name of the topic that is meant."""
    return f"topic {slots.get(RESOURCE)}"


def open_topic(records: Records, topic: str, *pages: str) -> None:
    """A topic with one article on each page; a topic without pages has nothing to say."""
    records.put(f"topic {topic}", pages=list(pages))


def search(records: Records, slots: Slots) -> Done:
    """Give the articles of a page; there are none for a topic that nobody wrote about."""
    topic = records.get(topic_name(slots))
    pages = topic.fields["pages"] if topic else []
    page = int(slots.get(CURSOR, 1))
    articles = pages[page - 1 : page]
    return Done(result={"articles": articles}, shown=topic, empty=not articles)


SEARCH = Operation(
    role="search",
    effect=Effect.READ,
    kind="search",
    act=search,
    about=topic_name,
    default=Role(search_articles, {"topic": RESOURCE, "query": WORDING, "page": CURSOR}),
)
