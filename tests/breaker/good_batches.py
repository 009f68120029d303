"""Good runs that do one thing after another, or go on until it works."""

from __future__ import annotations

from .driver import Driver, Outcome, Status, handoff, ok, read, write
from .good_runs import declared, good


@good(read("list_files"), read("read_file", identity=("path",)), write("rename", identity=("src",)))
def rename_batch(run: Driver) -> None:
    run.gives([f"{n}.txt" for n in range(12)], "list_files", path=".")
    for n in range(12):
        run.gives("ok", "rename", src=f"{n}.txt", dst=f"{n:03}.txt")
    run.gives([f"{n:03}.txt" for n in range(12)], "list_files", path=".")


@good(read("get_page", identity=("url",)), write("save", identity=("key",)))
def scrape_and_save(run: Driver) -> None:
    for n in range(20):
        run.gives(f"<p>{n}</p>", "get_page", url=f"https://a.org/{n}")
        run.gives({"saved": True}, "save", key=f"k{n}", value=n)


@good(read("get_price", identity=("sku", "shop")))
def price_comparison_same_price(run: Driver) -> None:
    for s in range(4):
        for k in range(4):
            run.gives({"price": 9.99}, "get_price", sku=f"S-{s}", shop=f"shop{k}")


@good(read("weather", identity=("city", "day")))
def weather_same_everywhere(run: Driver) -> None:
    for c in ["Rome", "Oslo", "Bonn"]:
        for day in range(1, 6):
            run.gives("sunny", "weather", city=c, day=f"2026-06-0{day}")


@good(read("search_mail", identity=("sender",)), write("archive", identity=("mail",)))
def inbox_zero(run: Driver) -> None:
    for n in range(8):
        run.gives([f"m{n}"], "search_mail", sender=f"s{n}@x.org")
        run.gives("ok", "archive", mail=f"m{n}")


@good(read("get_mail"), write("archive", identity=("mail",)))
def inbox_zero_next_mail(run: Driver) -> None:
    for n in range(8):
        run.gives({"mail": f"m{n}"}, "get_mail", folder="inbox")
        run.gives("ok", "archive", mail=f"m{n}")
    run.gives(None, "get_mail", folder="inbox")


@good(read("get_cart"), write("add_item", identity=("sku",)))
def cart_filled_and_checked(run: Driver) -> None:
    for n in range(6):
        run.gives("ok", "add_item", sku=f"S-{n}", count=1)
        run.gives({"items": n + 1}, "get_cart")


@good(read("test"), write("edit", identity=("path",)), read("show", identity=("path",)))
def mutation_testing_edit_and_revert(run: Driver) -> None:
    for n in range(6):
        run.gives("ok", "edit", path="a.py", text=f"mutant {n}")
        run.fails(Status.DEFINITE, f"killed by test {n}", "test", path=".")
        run.gives("ok", "edit", path="a.py", text=f"original, after {n}")
        run.gives("passed", "test", path=".")


@good(
    write("create_branch", identity=("name",)),
    write("commit", identity=("branch", "message")),
    write("open_pr", identity=("branch",)),
)
def ten_pull_requests(run: Driver) -> None:
    for n in range(10):
        run.gives("ok", "create_branch", name=f"fix-{n}")
        run.gives("ok", "commit", branch=f"fix-{n}", message=f"Fix issue {n}")
        run.gives({"pr": n}, "open_pr", branch=f"fix-{n}", title=f"Fix issue {n}")


@good(read("get_issue", identity=("n",)), write("label", identity=("n",)))
def triage_thirty_issues(run: Driver) -> None:
    for n in range(30):
        run.gives({"title": f"issue {n}"}, "get_issue", n=n)
        run.gives("ok", "label", n=n, label="bug")


@good(read("count", identity=("table",)))
def counts_of_tables(run: Driver) -> None:
    for t in ["users", "orders", "items", "carts"]:
        run.gives(0, "count", table=t)


@good(read("describe", identity=("table",)), read("sample", identity=("table",)))
def explore_a_schema(run: Driver) -> None:
    for t in ["users", "orders", "items", "carts", "refunds", "visits"]:
        run.gives([f"{t}_id", "created_at"], "describe", table=t)
        run.gives([[1, t]], "sample", table=t, limit=5)


@good(write("load", identity=("partition",)), read("rows", identity=("partition",)))
def backfill_thirty_days(run: Driver) -> None:
    for n in range(1, 31):
        run.gives({"rows": 100}, "load", partition=f"2026-01-{n:02}")
        run.gives(100, "rows", partition=f"2026-01-{n:02}")


@good(write("load", identity=("partition",)))
def backfill_with_transient_failures(run: Driver) -> None:
    for n in range(1, 15):
        if n % 4 == 0:
            run.waits(5)
            run.fails(Status.DEFINITE, "429 too many requests", "load", partition=f"p{n}")
        run.gives({"rows": 100}, "load", partition=f"p{n}")


@good(read("explain", identity=("query",)), write("create_index", identity=("name",)))
def tune_a_query(run: Driver) -> None:
    for n in range(6):
        run.gives(
            {"cost": 1000 - 100 * n}, "explain", query="SELECT * FROM orders JOIN users USING (id)"
        )
        run.gives("ok", "create_index", name=f"idx_{n}")


@good(read("bench"), write("set_param", identity=("name",)))
def tune_a_parameter(run: Driver) -> None:
    for n in range(10):
        run.gives("ok", "set_param", name="threads", value=n + 1)
        run.gives({"throughput": 100 + n}, "bench", suite="small")


@good(read("bench"), write("set_param", identity=("name",)))
def tune_a_parameter_no_gain(run: Driver) -> None:
    for n in range(10):
        run.gives("ok", "set_param", name="threads", value=n + 1)
        run.gives({"throughput": 100}, "bench", suite="small")


@good(read("peek", identity=("queue",)), write("ack", identity=("id",)))
def drain_a_queue(run: Driver) -> None:
    for n in range(12):
        run.gives({"id": f"m-{n}", "body": "hello"}, "peek", queue="q")
        run.gives("ok", "ack", id=f"m-{n}")


@good(read("verify", identity=("claim",)))
def fact_check_ten_claims(run: Driver) -> None:
    for n in range(10):
        run.gives({"verdict": "supported"}, "verify", claim=f"claim number {n} about the climate")


@good(read("compare", identity=("a", "b")))
def pairwise_comparison(run: Driver) -> None:
    for a in range(5):
        for b in range(a):
            run.gives("no difference", "compare", a=f"v{a}", b=f"v{b}")


@good(read("summarise", identity=("chunk",)))
def summarise_chunks(run: Driver) -> None:
    for n in range(20):
        run.gives(f"summary {n}", "summarise", chunk=n, of="book")


@good(read("lookup", identity=("mail",)), write("invite", identity=("mail",)))
def invite_fifteen_new_people(run: Driver) -> None:
    for n in range(15):
        run.gives(None, "lookup", mail=f"p{n}@x.org")
        run.gives({"id": n}, "invite", mail=f"p{n}@x.org")


@good(read("get_stock", identity=("sku",)), write("reorder", identity=("sku",)))
def reorder_what_is_out_of_stock(run: Driver) -> None:
    for n in range(15):
        run.gives({"stock": 0}, "get_stock", sku=f"S-{n}")
        run.gives({"order": n}, "reorder", sku=f"S-{n}", count=10)


@good(read("diff", identity=("path",)), write("comment", identity=("path", "line")))
def review_a_change(run: Driver) -> None:
    for n in range(10):
        run.gives(f"+ line {n}", "diff", path=f"f{n}.py")
        run.gives("ok", "comment", path=f"f{n}.py", line=n, text="Please rename this.")


@good(read("geocode", identity=("address",)))
def geocode_with_some_unknown(run: Driver) -> None:
    for n in range(20):
        run.gives([] if n % 3 == 0 else {"lat": n}, "geocode", address=f"Main street {n}, Bonn")


@good(read("find_file"))
def find_files_some_missing(run: Driver) -> None:
    for n, f in enumerate(
        ["setup.py", "tox.ini", "Makefile", "main.py", "Dockerfile", "README.md", "noxfile.py"]
    ):
        run.gives([] if n % 2 else [f], "find_file", name=f)


@good(write("send", identity=("to",), wording=("text",)))
def newsletter_to_forty(run: Driver) -> None:
    for n in range(40):
        run.gives("ok", "send", to=f"p{n}@x.org", text="Our shop opens again on Monday.")


@good(write("post_message", identity=("channel", "text")))
def progress_messages(run: Driver) -> None:
    for n in range(10):
        run.gives("ok", "post_message", channel="ops", text=f"Step {n} of 10 is done.")


@good(read("step_status", poll=True), write("start_step", identity=("step",)))
def pipeline_of_steps_each_waited_for(run: Driver) -> None:
    for n in range(5):
        run.gives({"run": f"run-{n}"}, "start_step", step=n)
        for _ in range(4):
            run.waits(10)
            run.gives({"status": "running"}, "step_status", run=f"run-{n}")
        run.gives({"status": "ok"}, "step_status", run=f"run-{n}")


@good(
    handoff("transfer", identity=("to",), wording=("note",)),
    write("update_ticket", identity=("id",)),
)
def ticket_moves_through_departments(run: Driver) -> None:
    for n, to in enumerate(["billing", "shipping", "billing", "legal", "billing", "support"]):
        run.by("x", "ok", "transfer", to=to, note="please see the ticket")
        run.gives("ok", "update_ticket", id="T-1", text=f"entry {n}")


@good(read("read_cell", identity=("cell",)), write("write_cell", identity=("cell",)))
def spreadsheet_filled(run: Driver) -> None:
    for n in range(12):
        run.gives(None, "read_cell", cell=f"A{n}")
        run.gives("ok", "write_cell", cell=f"A{n}", value=n)


@good(read("ocr", identity=("page",)))
def ocr_blank_pages(run: Driver) -> None:
    for n in range(10):
        run.gives("" if n in {2, 3, 7} else f"text {n}", "ocr", page=n, doc="scan.pdf")


@good(read("read_log", identity=("file",)))
def same_log_read_as_it_grows_slowly(run: Driver) -> None:
    for n in range(10):
        run.gives("\n".join(str(k) for k in range(n // 2 + 1)), "read_log", file="app.log")


@good(read("whois", identity=("domain",)))
def free_domains_until_one_is_found(run: Driver) -> None:
    for n in ["lampshop", "lamps-and-more", "lampen24", "light-it", "brightly", "lumenary"]:
        run.gives({"registered": True}, "whois", domain=f"{n}.org")
    run.gives({"registered": False}, "whois", domain="lumino-lamps.org")


@good(read("username_taken", identity=("name",)))
def user_names_until_one_is_free(run: Driver) -> None:
    for n in range(9):
        run.gives({"taken": True}, "username_taken", name=f"anna{n}")
    run.gives({"taken": False}, "username_taken", name="anna99")


@good(read("solve"))
def numeric_search_by_bisection(run: Driver) -> None:
    lo, hi = (0.0, 1.0)
    for _n in range(14):
        mid = (lo + hi) / 2
        run.gives({"sign": 1 if mid > 0.3 else -1}, "solve", x=mid)
        lo, hi = (lo, mid) if mid > 0.3 else (mid, hi)


@good(read("get", identity=("id",), result_version="v"), write("patch", identity=("id",)))
def read_modify_write_ten_times(run: Driver) -> None:
    for n in range(10):
        run.gives({"v": n, "x": n}, "get", id="r")
        run.gives({"v": n + 1}, "patch", id="r", x=n + 1)


@good(read("get", identity=("id",), result_version="v"), write("patch", identity=("id",)))
def optimistic_lock_conflicts(run: Driver) -> None:
    for n in range(3):
        run.gives({"v": n, "x": n}, "get", id="r")
        run.fails(
            Status.DEFINITE, f"409 conflict: version is {n + 1}", "patch", id="r", x=1, if_match=n
        )
    run.gives({"v": 3}, "get", id="r")
    run.gives({"v": 4}, "patch", id="r", x=1, if_match=3)


@good(read("api", identity=("path",)))
def oauth_token_refreshed_and_retried(run: Driver) -> None:
    for n in range(4):
        run.fails(Status.DEFINITE, "401 token expired", "api", path=f"/orders/{n}")
        run.gives({"token": f"t{n}"}, "api", path="/token")
        run.gives({"o": n}, "api", path=f"/orders/{n}")


@good(read("run_query"), read("list_tables"))
def sql_errors_mended_one_by_one(run: Driver) -> None:
    for n, e in enumerate(
        [
            "no such column: totl",
            "no such table: order",
            "syntax error near FORM",
            "ambiguous column: id",
        ]
    ):
        run.fails(Status.DEFINITE, e, "run_query", sql=f"SELECT {n} FROM t")  # noqa: S608 - nothing is run
    run.gives([[1]], "run_query", sql="SELECT total FROM orders")


@good(read("compile"), write("edit", identity=("path",)))
def compiler_errors_one_after_another(run: Driver) -> None:
    for n in range(12):
        run.fails(Status.DEFINITE, f"a.c:{n * 3}: error: unknown type", "compile", target="a")
        run.gives("ok", "edit", path="a.c", text=f"t{n}")
    run.gives("ok", "compile", target="a")


@good(read("chat"))
def interview_of_a_simulated_user(run: Driver) -> None:
    for n in range(10):
        run.gives(f"answer {n}", "chat", message=f"Question number {n}: tell me more about it")


@good(read("roll_dice"))
def dice_rolls(run: Driver) -> None:
    for _n, v in enumerate([4, 2, 6, 1, 3, 5]):
        run.gives(v, "roll_dice", sides=6)


@good(read("calc"))
def sums_with_equal_results(run: Driver) -> None:
    for e in ["1 + 3", "2 + 2", "8 / 2", "16 ** 0.5", "5 - 1"]:
        run.gives(4, "calc", expression=e)


@good(read("render"), write("edit", identity=("path",)))
def layout_tweaked_until_it_fits(run: Driver) -> None:
    for n in range(8):
        run.gives("overflow: 12px", "render", page="home")
        run.gives("ok", "edit", path="home.css", text=f"margin {n}")


@good(read("get_node"))
def walk_a_tree_of_numbers(run: Driver) -> None:
    for n in [1, 2, 4, 5, 3, 6, 7]:
        run.gives({"children": [2 * n, 2 * n + 1]}, "get_node", tree="t", node=n)


@good(read("get_node", result_version="v"))
def walk_a_tree_of_numbers_versioned(run: Driver) -> None:
    for n in [1, 2, 4, 8, 9, 5, 10, 11, 3, 6, 12, 13, 7]:
        run.gives({"v": 1, "children": [2 * n, 2 * n + 1]}, "get_node", tree="t", node=n)


@good(write("cancel_order", identity=("id",)))
def orders_that_cannot_be_cancelled(run: Driver) -> None:
    for n in range(3):
        run.fails(
            Status.DEFINITE, f"cannot cancel O-{n}: already shipped", "cancel_order", id=f"O-{n}"
        )
    run.gives("ok", "cancel_order", id="O-9")


@declared(read("check_availability", identity=("day",)))
def ten_days_fully_booked(run: Driver) -> None:
    for n in range(1, 11):
        run.gives([], "check_availability", room="R1", day=f"2026-05-{n:02}")


@good(read("fetch", identity=("url",)))
def parallel_fetch_with_failures(run: Driver) -> None:
    for t in range(6):
        run.together(
            *[
                (
                    ok(f"p{t}{k}") if k else Outcome(status=Status.TRANSIENT, error="Timeout"),
                    "fetch",
                    {"url": f"u{t}{k}"},
                )
                for k in range(4)
            ]
        )


@good(write("log_time", identity=("day",)))
def same_entry_for_each_day(run: Driver) -> None:
    for n in range(10):
        run.gives(
            "ok", "log_time", day=f"2026-03-{n + 1:02}", hours=8, text="Worked on the lamp project."
        )


@good(write("add_task", identity=("title",)))
def similar_tasks(run: Driver) -> None:
    for n in [
        "Paint the wall in room A",
        "Paint the wall in room B",
        "Paint the door in room A",
        "Paint the door in room B",
        "Paint the floor in room A",
    ]:
        run.gives({"id": n}, "add_task", list="home", title=n)
