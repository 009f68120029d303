"""Good runs of agents that write code."""

from __future__ import annotations

from .driver import Driver, Status, read, write
from .good_runs import declared, good


@good(
    read("run_tests"), write("edit_file", identity=("path",)), read("read_file", identity=("path",))
)
def tdd_changing_failures(run: Driver) -> None:
    for n in range(8):
        run.gives(f"FAILED test_a.py::test_{n} - AssertionError", "run_tests", path="tests")
        run.gives(f"code {n}", "read_file", path="a.py")
        run.gives("ok", "edit_file", path="a.py", old=f"x{n}", new=f"x{n + 1}")
    run.gives("8 passed", "run_tests", path="tests")


@good(read("run_tests"), write("edit_file", identity=("path",)))
def tdd_same_failure_four_times_then_pass(run: Driver) -> None:
    for n in range(4):
        run.fails(Status.DEFINITE, "1 failed: test_total", "run_tests", path="tests")
        run.gives("ok", "edit_file", path="a.py", old=f"x{n}", new=f"x{n + 1}")
    run.gives("8 passed", "run_tests", path="tests")


@good(read("read_file", identity=("path",), cursor=("offset",), result_version="etag"))
def read_long_file_in_pages(run: Driver) -> None:
    for n in range(12):
        run.gives(
            {"etag": "v1", "text": f"lines {n}"},
            "read_file",
            path="big.log",
            offset=n * 200,
            limit=200,
        )


@good(read("read_file", identity=("path",), cursor=("start_line",), result_version="sha"))
def read_file_ranges_out_of_order(run: Driver) -> None:
    for a, b in [(1, 50), (400, 450), (200, 260), (50, 100), (451, 520), (120, 160), (600, 650)]:
        run.gives(
            {"sha": "abc", "text": f"{a}-{b}"}, "read_file", path="m.py", start_line=a, end_line=b
        )


@good(read("read_file", identity=("path",), cursor=("view_range",), result_version="sha"))
def read_file_view_range_lists(run: Driver) -> None:
    for a, b in [(1, 50), (400, 450), (200, 260), (50, 100), (451, 520), (120, 160), (600, 650)]:
        run.gives({"sha": "abc", "text": f"{a}-{b}"}, "read_file", path="m.py", view_range=[a, b])


@good(read("grep", identity=("pattern",)))
def confirm_no_leftovers_pattern(run: Driver) -> None:
    for name in [
        "timeout",
        "retry",
        "backoff",
        "jitter",
        "deadline",
        "budget",
        "ceiling",
        "quota",
        "ledger",
        "nonce",
    ]:
        run.gives("", "grep", pattern=name, path="src")


@declared(read("search_code", identity=("query",)))
def confirm_no_leftovers_query(run: Driver) -> None:
    for name in [
        "old_helper",
        "make_client",
        "to_wire",
        "from_wire",
        "parse_row",
        "dump_row",
        "as_tuple",
        "legacy_id",
        "load_all",
        "save_all",
    ]:
        run.gives([], "search_code", query=name)


@declared(read("search_code", identity=("query",)))
def confirm_no_leftovers_query_words(run: Driver) -> None:
    for name in ["timeout", "retry", "backoff", "jitter", "deadline", "budget", "ceiling", "quota"]:
        run.gives([], "search_code", query=name)


@declared(read("lint", identity=("path",)))
def lint_thirty_files_clean(run: Driver) -> None:
    for n in range(30):
        run.gives([], "lint", path=f"src/module_{n}.py")


@good(read("git_status"), write("edit_file", identity=("path",)), write("git_commit"))
def status_after_each_commit(run: Driver) -> None:
    for n in range(8):
        run.gives("ok", "edit_file", path=f"f{n}.py", text=f"t{n}")
        run.gives("ok", "git_commit", message=f"step {n}")
        run.gives("nothing to commit, working tree clean", "git_status")


@declared(
    read("git_status"),
    write("edit_file", identity=("path",)),
    write("git_add", repeatable=True),
    write("git_commit"),
)
def git_add_dot_again(run: Driver) -> None:
    for n in range(4):
        run.gives("ok", "edit_file", path="a.py", text=f"t{n}")
        run.gives("", "git_add", path=".")
        run.gives("ok", "git_commit", message=f"step {n}")


@declared(write("build", repeatable=True), write("edit_file", identity=("path",)))
def build_after_each_edit(run: Driver) -> None:
    for n in range(5):
        run.gives("ok", "edit_file", path="a.c", text=f"t{n}")
        run.gives(f"warning {n}", "build", target="all")


@good(write("bash", repeatable=True), write("edit_file", identity=("path",)))
def shell_tests_after_each_edit(run: Driver) -> None:
    for n in range(5):
        run.gives("ok", "edit_file", path="a.py", text=f"t{n}")
        run.gives(f"{5 - n} failed", "bash", command="pytest -q")


@declared(write("checkout", repeatable=True), read("diff"))
def checkout_to_and_fro(run: Driver) -> None:
    for n in range(2):
        run.gives("ok", "checkout", branch="main")
        run.gives(f"d{n}", "diff", path=f"a{n}")
        run.gives("ok", "checkout", branch="feature/x")
        run.gives(f"e{n}", "diff", path=f"a{n}")


@declared(write("bisect", repeatable=True))
def bisect(run: Driver) -> None:
    for n, v in enumerate(["good", "good", "bad", "good", "bad", "bad"]):
        run.gives(f"checked out {n}", "bisect", verdict=v)


@good(read("list_dir", identity=("path",)))
def list_dirs_and_flags(run: Driver) -> None:
    for p in ["a", "b", "c", "d"]:
        run.gives([f"{p}1"], "list_dir", path=p)
        run.gives([f"{p}1", ".hidden"], "list_dir", path=p, all=True)


@good(read("read_file", identity=("path",)), write("edit_file", identity=("path",)))
def re_read_after_edit_undone(run: Driver) -> None:
    for n in range(4):
        run.gives("original", "read_file", path="a.py")
        run.gives("ok", "edit_file", path="a.py", old="a", new=f"b{n}")
        run.gives(f"edited {n}", "read_file", path="a.py")
        run.gives("ok", "edit_file", path="a.py", old=f"b{n}", new="a")


@good(read("read_file", identity=("path",)))
def probing_for_a_config(run: Driver) -> None:
    for p in ["config.yaml", "config.yml", "config.toml", "settings.toml"]:
        run.fails(Status.DEFINITE, "not found", "read_file", path=p)
    run.gives("[tool]", "read_file", path="pyproject.toml")


@good(read("think", wording=("thought",)), write("edit_file", identity=("path",)))
def think_before_each_edit(run: Driver) -> None:
    for n in range(6):
        run.gives("ok", "think", thought=f"I should edit file {n}")
        run.gives("ok", "edit_file", path=f"f{n}.py", text=str(n))


@good(read("spec", identity=("path",)), write("write_file", identity=("path",)))
def re_read_guide_before_each_chapter(run: Driver) -> None:
    for n in range(8):
        run.gives("guide", "spec", path="STYLE.md")
        run.gives("ok", "write_file", path=f"c{n}.md", text=f"t{n}")


@good(write("apply_patch", identity=("path",)), read("type_check"))
def type_check_alternates_two_messages(run: Driver) -> None:
    for n in range(4):
        run.gives("2 errors", "type_check", path=".")
        run.gives("ok", "apply_patch", path="a.py", patch=f"p{n}a")
        run.gives("1 error", "type_check", path=".")
        run.gives("ok", "apply_patch", path="a.py", patch=f"p{n}b")
