"""Good runs of agents that answer customers, or find things out."""

from __future__ import annotations

from .driver import Driver, Status, handoff, read, write
from .good_runs import declared, good


@good(read("find", wording=()), write("create", identity=("mail",)))
def three_lookups_then_create(run: Driver) -> None:
    run.gives([], "find", mail="a@b.c")
    run.gives([], "find", phone="0301234")
    run.gives([], "find", name="Anna Lee")
    run.gives({"id": 1}, "create", mail="a@b.c", name="Anna Lee")


@good(read("get_order", identity=("order_id",)), write("refund", identity=("order_id",)))
def thirty_refunds(run: Driver) -> None:
    for n in range(30):
        run.gives({"status": "delivered"}, "get_order", order_id=f"O-{n}")
        run.gives({"refund_id": n}, "refund", order_id=f"O-{n}", amount=10)


@declared(read("has_notes", identity=("customer",)))
def notes_of_twenty_customers_none(run: Driver) -> None:
    for n in range(20):
        run.gives([], "has_notes", customer=f"C-{n}")


@declared(read("kb", identity=("topic",), wording=("query",)))
def faq_questions_same_article(run: Driver) -> None:
    for q in [
        "return policy lamp",
        "warranty lamp",
        "shipping time lamp",
        "lamp colours",
        "lamp spare parts",
        "lamp energy label",
    ]:
        run.gives([{"article": "lamp-faq"}], "kb", query=q, topic=q)


@good(read("kb", identity=("topic",), wording=("query",)))
def opening_hours_of_cities_empty(run: Driver) -> None:
    for q, t in [
        ("opening hours Berlin store", "b"),
        ("opening hours of the store in Munich", "m"),
        ("store Hamburg opening hours", "h"),
        ("when is the Cologne store open, opening hours", "c"),
        ("opening hours for our Leipzig store", "l"),
    ]:
        run.gives([], "kb", query=q, topic=t)


@good(read("kb", identity=("topic",), wording=("query",)))
def same_shape_questions_same_answer(run: Driver) -> None:
    for q in ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]:
        run.gives(
            {"answer": "Not covered by the policy."},
            "kb",
            query=f"is {q} covered by the policy",
            topic=q,
        )


@declared(handoff("handoff", identity=("to",), required_fields=("draft",)))
def evaluator_improver_drafts(run: Driver) -> None:
    for n in range(6):
        run.by("writer", "ok", "handoff", to="evaluator", draft=f"Draft number {n}: the lamp text")
        run.by("evaluator", "ok", "handoff", to="writer", draft=f"Draft number {n} with remark {n}")


@declared(handoff("delegate", identity=("to", "task")))
def supervisor_delegates_ten_tasks(run: Driver) -> None:
    for c in ["Acme", "Globex", "Initech", "Umbrella", "Hooli", "Stark", "Wayne", "Wonka"]:
        run.by(
            "supervisor",
            f"Report about {c}",
            "delegate",
            to="researcher",
            task=f"Research the company {c}",
        )


@declared(handoff("delegate", identity=("to", "task")))
def supervisor_delegates_varied(run: Driver) -> None:
    for w, t in [
        ("coder", "write the parser"),
        ("tester", "test the parser"),
        ("coder", "fix the failing test for empty input"),
        ("tester", "test again with empty input"),
        ("coder", "add the documentation"),
        ("reviewer", "review all"),
        ("coder", "apply the review remarks"),
        ("tester", "run the whole suite"),
    ]:
        run.by("lead", f"done: {t}", "delegate", to=w, task=t)


@good(handoff("transfer", identity=("to",), wording=("note",)), read("get_order", identity=("id",)))
def transfer_back_with_new_fact(run: Driver) -> None:
    for n in range(4):
        run.gives({"fact": n}, "get_order", id=n)
        run.gives("ok", "transfer", to=("billing", "support")[n % 2], note=f"see fact {n}")


@good(read("ask_user"))
def asks_user_one_thing_after_another(run: Driver) -> None:
    for q in ["name", "street", "city", "postcode", "country", "phone"]:
        run.gives(f"answer {q}", "ask_user", question=f"What is your {q}?")


@good(read("ask_user"))
def user_says_yes_each_time(run: Driver) -> None:
    for q in [
        "Should I rename the file?",
        "Should I delete the old one?",
        "Should I update the links?",
        "Should I run the tests?",
        "Should I commit it?",
        "Should I push it?",
    ]:
        run.gives("yes", "ask_user", question=q)


@declared(write("send_message", repeatable=True), write("ship", identity=("id",)))
def same_notice_after_each_parcel(run: Driver) -> None:
    for n in range(5):
        run.gives("ok", "ship", id=n)
        run.gives("ok", "send_message", to="anna", text="Your parcel is on its way.")


@good(read("web_search", wording=()))
def twenty_searches(run: Driver) -> None:
    for n in range(20):
        run.gives([f"r{n}"], "web_search", query=f"solar output part {n}")


@good(read("fetch", identity=("url",)))
def four_dead_links_in_a_row(run: Driver) -> None:
    for n in range(4):
        run.fails(Status.DEFINITE, "404", "fetch", url=f"u{n}")
    run.gives("page", "fetch", url="u9")


@good(read("search", identity=("year",), wording=("query",)))
def years_without_data(run: Driver) -> None:
    for y in range(2010, 2022):
        run.gives([], "search", query=f"population of Atlantis in {y}", year=y)


@good(read("search", identity=("page",), cursor=("page",)))
def pages_until_empty(run: Driver) -> None:
    for n in range(1, 9):
        run.gives([n], "search", q="lamp", page=n)
    run.gives([], "search", q="lamp", page=9)


@good(read("search", cursor=("cursor",)))
def opaque_cursor(run: Driver) -> None:
    for n in range(12):
        run.gives({"items": [n], "next": f"tok{n}"}, "search", q="lamp", cursor=f"tok{n - 1}")


@good(read("search", cursor=("page",)))
def pages_with_equal_items(run: Driver) -> None:
    for n in range(1, 12):
        run.gives(["lamp"], "search", q="lamp", page=n)


@declared(read("cite", identity=("doi",)))
def citations_counts_zero(run: Driver) -> None:
    for n in range(15):
        run.gives(0, "cite", doi=f"10.1/{n}")


@declared(read("sci", identity=("species",), wording=("query",)))
def species_lower_case(run: Driver) -> None:
    for s in [
        "red fox",
        "grey wolf",
        "brown bear",
        "wild cat",
        "pine marten",
        "roe deer",
        "stoat weasel",
        "otter",
    ]:
        run.gives([], "sci", query=f"{s} sightings", species=s)


@good(read("memory_search"), write("memory_save"))
def memory_checked_before_each_note(run: Driver) -> None:
    for n in range(10):
        run.gives([], "memory_search", query=f"note about thing {n}")
        run.gives("ok", "memory_save", text=f"thing {n} is so")


@good(read("translate"))
def translations_that_coincide(run: Driver) -> None:
    for w in ["bank", "couch", "settee", "sofa", "divan", "davenport"]:
        run.gives("Sofa", "translate", text=f"the {w}", to="de")


@declared(read("classify", identity=("text",)))
def classify_many_same_label(run: Driver) -> None:
    for _n, w in enumerate(
        [
            "I love this lamp",
            "great lamp, thanks",
            "the lamp is really great",
            "what a nice lamp",
            "lamp works well",
            "very good lamp",
            "lamp is great value",
            "love the lamp",
        ]
    ):
        run.gives({"label": "positive"}, "classify", text=w)


@declared(read("spell", identity=("text",)))
def spelling_ok_for_each_sentence(run: Driver) -> None:
    for w in [
        "The lamp is on the table.",
        "The lamp on the table is red.",
        "A red lamp is on a table.",
        "On the table is the red lamp, on.",
        "The red table has a lamp.",
    ]:
        run.gives({"errors": []}, "spell", text=w)


@good(write("refund", identity=("order",)))
def asks_for_less_after_denial(run: Driver) -> None:
    run.denies("too much", "refund", order="O-1", amount=500)
    run.gives({"id": 1}, "refund", order="O-1", amount=100)


@declared(write("create_ticket", identity=("title",)))
def other_ticket_after_lost_one(run: Driver) -> None:
    run.fails(
        Status.UNKNOWN, "timeout", "create_ticket", project="IT", title="Printer broken in room 4"
    )
    run.gives({"id": 1}, "create_ticket", project="IT", title="Laptop broken in room 7")


@good(write("send", identity=("to",)))
def other_mail_after_lost_one(run: Driver) -> None:
    run.fails(Status.UNKNOWN, "timeout", "send", to="a@x.org", body="Your order has shipped")
    run.gives("ok", "send", to="b@x.org", body="Your order has shipped")


@good(write("create_event", identity=("title", "day")))
def fan_out_of_similar_writes(run: Driver) -> None:
    for n in range(10):
        run.gives({"id": n}, "create_event", title="Standup", day=f"2026-01-{n + 10}")
