"""What `agent-tripwire records --help` says, and that of each of its sub-commands."""

from __future__ import annotations

SUMMARY = "show interrupted runs, settle their writes, and hand them over or close them"

STATUSES = """\
exit status:
  0    done
  1    refused, no such run or write, or the store cannot be used; the message says which
  2    wrong usage
"""

DESCRIPTIONS = {
    "": """\
Show interrupted runs, settle their writes, and hand them over or close them.
A run whose worker has died while a write was under way is taken into the records first.
""",
    "list": """\
List interrupted runs, the latest first.
""",
    "show": """\
Show one interrupted run: why, what certainly happened, what may have, what did not, and what can
be done now without doing anything twice.
""",
    "resolve": """\
Say what you have found out about a write whose outcome is unknown. It is not asked again: what
is certain stays so.
""",
    "close": """\
End an interruption without taking the run up. Writes that may have happened stay held.
""",
    "stats": """\
Count interruptions by reason, workflow, tool and what became of them.
""",
    "resume-token": """\
Print the line by which your application takes the run up: Resume.from_token(line, operator=...).
It is no secret and grants nothing: the application asks whether the operator may.
""",
}

SHORT = {
    "list": "interrupted runs, the latest first",
    "show": "one of them wholly, with what can be done now",
    "resolve": "say what became of a write",
    "close": "end an interruption",
    "stats": "count them",
    "resume-token": "the line by which an application takes a run up",
}

EPILOGS = {
    "": f"""\
example:
  export AGENT_TRIPWIRE_STORE=sqlite:////var/lib/shop/tripwire.db
  agent-tripwire records list
  agent-tripwire records show 3f9a

{STATUSES}""",
}
