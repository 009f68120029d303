"""Good runs of agents that keep services running, use a browser or move data."""

from __future__ import annotations

import uuid

from .driver import Driver, Status, read, write
from .good_runs import declared, good


@good(read("get_run", identity=("id",), poll=True))
def ci_in_progress(run: Driver) -> None:
    for _ in range(20):
        run.waits(30)
        run.gives({"status": "in_progress"}, "get_run", id="r-77")
    run.gives({"status": "success"}, "get_run", id="r-77")


@declared(read("wait", poll=True), read("get_job", identity=("id",), poll=True))
def wait_tool_and_percent(run: Driver) -> None:
    for p in range(0, 100, 10):
        run.gives("Waited 30 seconds", "wait", seconds=30)
        run.waits(30)
        run.gives({"percent": p}, "get_job", id="j-1")


@declared(read("wait", poll=True), read("get_job", identity=("id",), poll=True))
def wait_tool_and_running(run: Driver) -> None:
    for _p in range(10):
        run.gives("ok", "wait", seconds=30)
        run.waits(30)
        run.gives({"status": "running"}, "get_job", id="j-1")


@declared(write("send_code", identity=("email",)), read("inbox", identity=("address",), poll=True))
def inbox_until_mail(run: Driver) -> None:
    run.gives({"ok": True}, "send_code", email="a@b.c")
    for _ in range(8):
        run.waits(20)
        run.gives([], "inbox", address="a@b.c")
    run.gives([{"code": 1}], "inbox", address="a@b.c")


@declared(read("inbox", identity=("address",), poll=True))
def inbox_reply_expected(run: Driver) -> None:
    for _ in range(8):
        run.waits(300)
        run.gives([], "inbox", address="a@b.c")
    run.gives([{"m": 1}], "inbox", address="a@b.c")


@declared(write("set_dns", identity=("name",)), read("dig", identity=("name",), poll=True))
def dns_propagation(run: Driver) -> None:
    run.gives("ok", "set_dns", name="www", value="1.2.3.5")
    for _ in range(8):
        run.waits(60)
        run.gives("1.2.3.4", "dig", name="www")
    run.gives("1.2.3.5", "dig", name="www")


@declared(
    write("deploy", identity=("service",)), read("version_of", identity=("service",), poll=True)
)
def rollout_old_version_for_a_while(run: Driver) -> None:
    run.gives({"deployment": "d-9"}, "deploy", service="web", tag="v2")
    for _ in range(6):
        run.waits(30)
        run.gives({"version": "v1", "healthy": True}, "version_of", service="web")
    run.gives({"version": "v2"}, "version_of", service="web")


@good(read("health", identity=("service",), poll=True))
def health_503_until_up(run: Driver) -> None:
    for _ in range(4):
        run.waits(15)
        run.fails(Status.TRANSIENT, "503 unavailable", "health", service="web")
    run.gives("healthy", "health", service="web")


@good(write("restart", identity=("service",)), read("pods", identity=("ns",), poll=True))
def pods_starting_two_states(run: Driver) -> None:
    run.gives("ok", "restart", service="api")
    for s in ["Pending", "Pending", "ContainerCreating", "ContainerCreating", "Running"]:
        run.waits(10)
        run.gives([{"pod": "api-1", "phase": s}], "pods", ns="prod")


@declared(read("export_status", identity=("id",), poll=True))
def export_not_ready_text(run: Driver) -> None:
    for _ in range(6):
        run.waits(10)
        run.gives("Export is being prepared", "export_status", id="e-1")
    run.gives("ready", "export_status", id="e-1")


@declared(read("tail", poll=True))
def tail_quiet_log(run: Driver) -> None:
    for _ in range(6):
        run.waits(20)
        run.gives("", "tail", file="app.log", since="last")
    run.gives("started", "tail", file="app.log", since="last")


COLUMNS = [
    ("users", "email"),
    ("orders", "total"),
    ("items", "sku"),
    ("carts", "owner"),
    ("refunds", "amount"),
    ("visits", "at"),
    ("pages", "title"),
    ("tags", "label"),
    ("votes", "value"),
]


@declared(read("sql", identity=("query",)))
def null_checks_all_zero(run: Driver) -> None:
    for t, c in COLUMNS:
        run.gives(0, "sql", query=f"select count(*) from {t} where {c} is null")  # noqa: S608 - nothing is run


@declared(read("sql", identity=("query",)))
def null_checks_rows_empty(run: Driver) -> None:
    for t, c in COLUMNS:
        run.gives([], "sql", query=f"SELECT * FROM {t} WHERE {c} IS NULL")  # noqa: S608 - nothing is run


@good(read("sql", identity=("query",)))
def same_count_of_cities(run: Driver) -> None:
    for c in ["Rome", "Paris", "Oslo", "Bern", "Wien", "Kiev"]:
        run.gives([{"count": 0}], "sql", query=f"SELECT count(*) FROM shops WHERE city = '{c}'")  # noqa: S608 - nothing is run


@good(read("sql", identity=("query",)))
def narrowing_a_query(run: Driver) -> None:
    run.gives([], "sql", query="SELECT * FROM orders WHERE status = 'open' AND total > 100")
    run.gives([], "sql", query="SELECT * FROM orders WHERE status = 'open' AND total > 50")
    run.gives([], "sql", query="SELECT * FROM orders WHERE status = 'open'")
    run.gives([], "sql", query="SELECT * FROM orders WHERE total > 100")
    run.gives([{"n": 1}], "sql", query="SELECT * FROM orders LIMIT 1")


@declared(read("validate", identity=("row",)))
def validate_fifty_rows(run: Driver) -> None:
    for n in range(50):
        run.gives([], "validate", row=n)


@good(read("validate", identity=("row",)))
def validate_fifty_rows_ok_text(run: Driver) -> None:
    for n in range(50):
        run.gives("valid", "validate", row=n)


@declared(read("duplicates", identity=("id",)))
def duplicates_of_forty_uuid_customers(run: Driver) -> None:
    for n in range(40):
        run.gives([], "duplicates", id=str(uuid.UUID(int=n * 7919 + 5)))


@good(read("list_ids"), read("get_contact", identity=("id",)))
def same_content_for_uuid_contacts(run: Driver) -> None:
    ids = [str(uuid.UUID(int=n * 7919**9 + 5)) for n in range(10)]
    run.gives(ids, "list_ids")
    for i in ids:
        run.gives({"state": "active"}, "get_contact", id=i)


@good(read("get_contact", identity=("id",)))
def same_content_for_uuid_contacts_from_the_user(run: Driver) -> None:
    for n in range(10):
        run.gives({"state": "active"}, "get_contact", id=str(uuid.UUID(int=n * 7919**9 + 5)))


@good(read("pop", result_volatile=()))
def queue_pop(run: Driver) -> None:
    for n in range(15):
        run.gives({"job": n}, "pop")
    run.gives(None, "pop")


@good(read("pop"))
def queue_pop_uuid_items(run: Driver) -> None:
    for n in range(15):
        run.gives({"id": str(uuid.UUID(int=n * 7919**9 + 5)), "kind": "mail"}, "pop")


@good(read("remaining"))
def counters_that_go_down(run: Driver) -> None:
    for n in range(15):
        run.gives({"remaining": 15 - n}, "remaining")


@declared(write("append_row", repeatable=True))
def two_equal_line_items(run: Driver) -> None:
    run.gives("ok", "append_row", sheet="S", row=["coffee", 2])
    run.gives("ok", "append_row", sheet="S", row=["cake", 1])
    run.gives("ok", "append_row", sheet="S", row=["coffee", 2])


@good(read("ping", identity=("host",)))
def ping_twenty_hosts(run: Driver) -> None:
    for n in range(20):
        run.gives("ok", "ping", host=f"web{n}")


@good(write("scale", identity=("service",)), read("load"))
def scale_up_and_down(run: Driver) -> None:
    for n in range(4):
        run.gives(80 + n, "load", service="web")
        run.gives("ok", "scale", service="web", replicas=(4, 2)[n % 2])


@good(write("flag", identity=("name",)), read("metric"))
def flag_on_off_measure(run: Driver) -> None:
    for n in range(6):
        run.gives("ok", "flag", name="new-ui", state=("on", "off")[n % 2])
        run.gives(100 + n, "metric", name="conversion")


@declared(write("deploy", repeatable=True), write("edit_file", identity=("path",)), read("smoke"))
def deploy_after_each_fix(run: Driver) -> None:
    for n in range(4):
        run.gives("ok", "edit_file", path="a.py", text=f"t{n}")
        run.gives({"build": n}, "deploy", service="web", env="staging")
        run.gives(f"error {n}", "smoke", env="staging")


@declared(write("restart", repeatable=True), write("set_config", identity=("key",)), read("status"))
def restart_after_each_config_change(run: Driver) -> None:
    for n in range(4):
        run.gives("ok", "set_config", key=f"k{n}", value=n)
        run.gives("ok", "restart", service="web")
        run.gives(f"status {n}", "status", service="web")


@declared(
    write("lock", operation="lock", identity=("name",)),
    write("unlock", operation="lock", identity=("name",)),
    write("put", identity=("k",)),
)
def lock_and_unlock_twice(run: Driver) -> None:
    for n in range(3):
        run.gives("ok", "lock", name="m", held=True)
        run.gives("ok", "put", k=n, v=n)
        run.gives("ok", "unlock", name="m", held=False)


@good(write("kubectl_apply", repeatable=True), write("edit_file", identity=("path",)))
def apply_manifest_after_edit(run: Driver) -> None:
    for n in range(3):
        run.gives("ok", "edit_file", path="d.yaml", text=f"t{n}")
        run.gives("configured", "kubectl_apply", file="d.yaml")


@good(read("read_log", identity=("file",)))
def two_growing_logs_alternately(run: Driver) -> None:
    for n in range(12):
        run.gives(f"line {n}", "read_log", file=("a.log", "b.log")[n % 2], lines=50)


@good(read("disk", identity=("host",)), write("clean", identity=("host", "dir")))
def disk_checked_after_each_cleaning(run: Driver) -> None:
    for n in range(6):
        run.gives({"used": "91%"}, "disk", host="h")
        run.gives("ok", "clean", host="h", dir=f"d{n}")


@declared(read("check_availability", identity=("day",)))
def fourteen_days_fully_booked(run: Driver) -> None:
    for n in range(1, 21):
        run.gives([], "check_availability", room="R1", day=f"2026-05-{n:02}")


@declared(read("check_availability", identity=("room",)))
def twenty_rooms_no_slot(run: Driver) -> None:
    for n in range(20):
        run.gives({"slots": []}, "check_availability", room=f"Room {n}", day="monday")


@good(write("book", identity=("slot",)))
def booking_taken_slots(run: Driver) -> None:
    for n in range(4):
        run.fails(Status.DEFINITE, "slot already taken", "book", slot=f"s{n}")
    run.gives({"id": 1}, "book", slot="s9")


@good(write("create_user", identity=("mail",)))
def form_errors_one_after_another(run: Driver) -> None:
    for e in ["mail invalid", "phone invalid", "name too long"]:
        run.fails(Status.DEFINITE, e, "create_user", mail="a", phone="1", name="x")
    run.gives({"id": 1}, "create_user", mail="a", phone="1", name="x")


@good(write("pay", identity=("invoice",)))
def rate_limited_write_retried(run: Driver) -> None:
    for _ in range(2):
        run.waits(5)
        run.fails(Status.DEFINITE, "429 too many requests", "pay", invoice="i-1", amount=3)
    run.gives({"id": 1}, "pay", invoice="i-1", amount=3)


@declared(write("click", repeatable=True), read("snapshot"))
def click_next_page(run: Driver) -> None:
    for n in range(8):
        run.gives("ok", "click", selector="a.next")
        run.gives(f"page {n}", "snapshot")


@declared(write("press", repeatable=True), read("snapshot"))
def arrow_down_in_a_list(run: Driver) -> None:
    for n in range(5):
        run.gives("ok", "press", key="ArrowDown")
        run.gives(f"item {n}", "snapshot")


@declared(write("scroll", repeatable=True), read("snapshot"))
def scroll_down(run: Driver) -> None:
    for n in range(6):
        run.gives("ok", "scroll", direction="down", amount=500)
        run.gives(f"view {n}", "snapshot")


@declared(write("navigate", repeatable=True), read("snapshot"))
def back_to_home_between_products(run: Driver) -> None:
    for n in range(4):
        run.gives("ok", "navigate", url="https://shop/")
        run.gives(f"home {n}", "snapshot")
        run.gives("ok", "navigate", url=f"https://shop/p{n}")
        run.gives(f"p {n}", "snapshot")


@declared(write("type", repeatable=True), write("click", repeatable=True), read("snapshot"))
def fill_a_form(run: Driver) -> None:
    for n, f in enumerate(["name", "street", "city", "zip"]):
        run.gives("ok", "type", selector=f"#{f}", text=f"v{n}")
    run.gives("ok", "click", selector="#submit")
    run.gives("zip is wrong", "snapshot")
    run.gives("ok", "type", selector="#zip", text="12345")
    run.gives("ok", "click", selector="#submit")
    run.gives("thanks", "snapshot")


@good(read("screenshot"), write("click", repeatable=True))
def screenshot_unchanged_twice(run: Driver) -> None:
    run.gives("img1", "screenshot")
    run.gives("ok", "click", x=1, y=2)
    run.gives("img1", "screenshot")
    run.gives("ok", "click", x=1, y=9)
    run.gives("img1", "screenshot")
    run.gives("ok", "click", x=3, y=9)
    run.gives("img1", "screenshot")
    run.gives("ok", "click", x=7, y=9)
    run.gives("img2", "screenshot")
