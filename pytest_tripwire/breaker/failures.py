"""What the text of an error tells: which error it is, and whether it proves that nothing happened.

Only a refusal before the work began is a proof: arguments that were not accepted, a thing that is
not there, a permission that is missing, a rate limit; or a command that ran to its end and says so.
One word of a broken connection or of lost time in the same text takes the proof away, and so does
a tool that reads after it wrote.
"""

from __future__ import annotations

import re
import unicodedata

#: Longer texts say no more about the class of an error.
_LONGEST = 300

_PASSING = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[t ]\d\d:\d\d(:\d\d)?(\.\d+)?(z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"\b\d{1,2}:\d\d(:\d\d)?(\.\d+)?\b"), "<time>"),
    (re.compile(r"\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}\b"), "<id>"),
    (
        re.compile(r"\b\d+(\.\d+)?\s?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?)\b"),
        "<span>",
    ),
    (re.compile(r"\b(attempt|try|retry)\s?#?\d+(\s?(of|/)\s?\d+)?"), r"\1"),
    (
        re.compile(r"\b(request|req|trace|span|correlation)[-_ ]?(id)?\s?[:=#]?\s?[\w-]*\d[\w-]*"),
        r"\1",
    ),
    (re.compile(r"\d{6,}"), "<number>"),
)

_DOUBT = re.compile(
    r"time[ds]?[ -]?out|deadline|\babort(ed|ing)?\b|\bcancel(l?ed|ling)?\b|\bconnection\b|\breset\b"
    r"|hang ?up|hung up|\beof\b"
    r"|broken pipe|network|fetch failed|unreachable|unavailable|gateway|internal (server )?error"
    r"|\b50\d\b|interrupted|lost|no response|partial|(?<!retry )(?<!again )\bafter\b|crash"
    r"|killed|mid-|(?<!not )(?<!not be )(?<!n't be )(?<!already )(?<!never )\b(created|executed"
    r"|charged|transferred|submitted|booked|posted|inserted|succeeded|dispatched|placed)\b"
)
_PROOF = re.compile(
    r"not (be )?(accepted|executed|applied|performed|processed|sent|started|allowed|permitted)"
    r"|nothing (was|has been)? ?(written|changed|done|sent)|no changes? (were|was) made"
    r"|rolled back|validation|invalid|is required|are required|required (field|param|argument)"
    r"|missing (required|argument|param|field|property)|must (be|have|not|contain|match)"
    r"|(unknown|unexpected|unrecogni[sz]ed|unsupported) (tool|arg|param|field|action|option|key)"
    r"|unrecogni[sz]ed|unsupported|not supported|malformed|can(no|')t parse|could not parse"
    r"|parse error|syntax error|schema|not found|no such|does(n't| not) exist|\b(0|zero|no) "
    r"(\w+ ){0,3}(occurrences?|match(es)?|entries|entry|rows?|records?|files?|elements?|items?)\b"
    r"|not unique|permission|unauthori[sz]ed|forbidden|denied"
    r"|\b(400|401|403|404|405|409|410|412|413|415|422|429)\b|rate.?limit|too many requests|quota"
    r"|precondition|expected .{1,40}(but|got)|^(error: )?no (\w+ ){1,4}['\"`(<]"
    r"|(can(no|')t|could(n't| not)|unable to|failed to) (find|locate|resolve|parse|validate)"
    r"|already (exists|closed|finished|completed|done|in use|taken|terminated|stopped)"
    r"|(is|are|was)(n't| not) (a|an|running|active|open|live|available|enabled|configured)\b"
    r"|(is|are|was)(n't| not) installed\b"
    r"|exit(ed)?( with)?( code| status)[ :=]*[1-9]|non-?zero exit"
    r"|too (long|large|many|short|small)|out of range|exceeds|insufficient|ambiguous|read.?only"
)


def same_error(text: str) -> str:
    """`text` without what changes from one time to the next, so that one error is one text."""
    plain = unicodedata.normalize("NFKC", text[: _LONGEST * 4]).casefold()
    for pattern, stands in _PASSING:
        plain = pattern.sub(stands, plain)
    return " ".join(plain.split())[:_LONGEST]


def proves_nothing_happened(text: str) -> bool:
    """Whether an error's text tells of a refusal before anything was done."""
    plain = text[: _LONGEST * 4].casefold()
    return bool(_PROOF.search(plain)) and not is_doubtful(plain)


def is_doubtful(text: str) -> bool:
    """Whether an error's text tells of a broken connection, of lost time or of a service down."""
    return _DOUBT.search(text[: _LONGEST * 4].casefold()) is not None


def names(text: str, failure: str) -> bool:
    """Whether an error's text names a declared failure, as a word of its own."""
    return bool(re.search(rf"(?<![\w]){re.escape(failure.casefold())}(?![\w])", text.casefold()))
