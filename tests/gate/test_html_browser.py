"""The page in a browser: it fits, it can be read, it can be walked through, it asks for nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pytest_tripwire.gate import Row, Standing, Verdict
from pytest_tripwire.gate.html import page
from pytest_tripwire.oracle import Broken, Cell, State
from pytest_tripwire.timeline import BudgetLine, Dispatch, Effect

from .chromium import MISSING, Chromium, find
from .html_any import HOSTILE
from .html_runs import failing, many

pytestmark = pytest.mark.skipif(find() is None, reason=MISSING)

#: Every text that is seen, with the contrast that it has against what lies behind it.
CONTRASTS = """
(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = colour => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map(each => each / 255).map(
      each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = element => {
    for (let each = element; each; each = each.parentElement) {
      const colour = rgba(getComputedStyle(each).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255];
  };
  const found = {};
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; node = walker.nextNode();) {
    const element = node.parentElement, style = getComputedStyle(element);
    if (!node.data.trim() || style.fontSize === '0px' || !element.checkVisibility()) continue;
    if (element.tagName === 'title') continue;
    const ink = rgba(element.tagName === 'text' ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(element))].sort((x, y) => y - x);
    const name = `${element.tagName} ${element.closest('[class]')?.getAttribute('class')}`;
    found[name] = Math.min(found[name] ?? 99, (a + 0.05) / (b + 0.05));
  }
  return found;
})()
"""
WIDE = """
[document.documentElement.scrollWidth, innerWidth,
 [...document.querySelectorAll('main *')].filter(each => !each.closest('.box')
  && !each.closest('svg') && each.getBoundingClientRect().right > innerWidth + 1
  ).map(each => each.outerHTML.slice(0, 80))]
"""
FOCUS = """
(() => {
  const each = document.activeElement, style = getComputedStyle(each);
  return {id: each.id, tag: each.tagName, ring: style.outlineStyle + style.outlineWidth,
          at: [...document.querySelectorAll('*')].indexOf(each),
          open: !!each.parentElement?.open};
})()
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    chromium = Chromium(tmp_path_factory.mktemp("profile"))
    yield chromium
    chromium.close()


@functools.cache
def every_state() -> Verdict:
    """One row of each state, and text of the worst kind."""
    text = " ".join(HOSTILE)
    events = [
        Dispatch(seq=at, tool=text, role="r", effect=Effect.WRITE, resource=text)
        for at in range(1, 300)
    ]
    long = Cell(
        agent=text,
        case=text,
        state=State.ESCAPED,
        protection=text,
        ending=text,
        stop_seq=3,
        lesson=text,
        broken=(Broken(check=text, message=text, seq=5),),
        budgets=(BudgetLine(name=text, limit=1e300, spent=1e12, remaining=1 / 3),),
        events=tuple(events),
    )
    # Flags that are reckoned to end where the next ones in their lines begin.
    mild = [
        each if each.seq in {9, 10, 12, 13} else msgspec.structs.replace(each, effect=Effect.READ)
        for each in events[:15]
    ]
    short = msgspec.structs.replace(long, events=tuple(mild), stop_seq=5)
    rows = [Row(agent=f"{n} {text}", case=text, state=each) for n, each in enumerate(Standing)]
    rows += [
        Row(agent="a", case=case, state=Standing.ESCAPED, detail=text, cell=cell, counted=counted)
        for case, cell, counted in (
            (text, long, True),
            ("w" * 90, short, True),
            (text, short, False),
        )
    ]
    return Verdict(rows=tuple(rows), problems=(text,), notes=(text,), protections=(text,))


def wide() -> Verdict:
    """A grid that has room on no screen, with few runs below it."""
    return many(ran=1)


VERDICTS = {"failing": failing, "every state": every_state}


@pytest.fixture(params=VERDICTS)
def shown(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return written(tmp_path, VERDICTS[request.param]())


def written(folder: Path, verdict: Verdict, *, opened: bool = True) -> Path:
    """A page, by default with all of it open, so that nothing escapes the look."""
    file, text = folder / "gate.html", page(verdict)
    file.write_text(text.replace("<details>", "<details open>") if opened else text, "utf-8")
    return file


def test_a_page_is_whole_on_any_screen(browser: Chromium, shown: Path) -> None:
    browser.show(shown)

    it_asks_for_nothing_and_complains_of_nothing(browser, shown)
    labels_fit_where_they_were_reckoned_to_fit(browser)
    for dark in (False, True):
        browser.screen(dark=dark)
        every_text_can_be_read(browser, dark=dark)
    for width in (1280, 360):
        browser.screen(width=width)
        it_never_scrolls_sideways_but_in_its_boxes(browser, width)


def it_asks_for_nothing_and_complains_of_nothing(browser: Chromium, shown: Path) -> None:
    asked = [each["request"]["url"] for each in browser.seen("Network.requestWillBeSent")]
    assert asked == [shown.as_uri()]
    assert not browser.seen("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
    assert browser.ask("document.scripts.length") == 0
    assert browser.ask("document.compatMode") == "CSS1Compat"


def it_never_scrolls_sideways_but_in_its_boxes(browser: Chromium, width: int) -> None:
    across, room, out = browser.ask(WIDE)
    assert room == width
    assert across <= width
    assert out == []


def every_text_can_be_read(browser: Chromium, *, dark: bool) -> None:
    found = browser.ask(CONTRASTS)
    assert len(found) > 20
    assert {name: ratio for name, ratio in found.items() if ratio < 4.5} == {}
    ground = browser.ask("getComputedStyle(document.documentElement).backgroundColor")
    assert (ground == "rgb(19, 21, 24)") is dark


def labels_fit_where_they_were_reckoned_to_fit(browser: Chromium) -> None:
    found = browser.ask("""[...document.querySelectorAll('.timeline .box svg')].flatMap(svg => {
      const texts = [...svg.querySelectorAll('text')].map(each => each.getBBox());
      return [Math.max(...texts.map(each => each.x + each.width)) - svg.viewBox.baseVal.width,
              Math.max(...texts.map(each => each.y + each.height)) - svg.viewBox.baseVal.height];
    })""")
    assert max(found) <= 0
    over = browser.ask("""[...document.querySelectorAll('.timeline .box svg')].flatMap(svg => {
      const lines = {};
      for (const each of svg.querySelectorAll('text.l, text.flag'))
        (lines[each.getAttribute('class')[0] + each.getAttribute('y')] ??= []).push(each.getBBox());
      return Object.values(lines).flatMap(all => all.slice(1).map(
        (each, at) => all[at].x + all[at].width - each.x));
    })""")
    assert max(over) <= 0


def test_the_keyboard_reaches_the_first_failing_cell_at_once(
    browser: Chromium, tmp_path: Path
) -> None:
    browser.show(written(tmp_path, failing()))

    browser.press("Tab")
    browser.press("Tab")
    browser.press("Enter")

    found = browser.ask(FOCUS)
    first = browser.ask("document.querySelector('.details details:not(.legend) summary').id")
    assert (found["id"], found["tag"]) == (first, "SUMMARY")
    assert found["open"]
    assert browser.ask("document.activeElement.querySelector('.s').innerText") == "✗ escaped"


def test_tab_walks_through_all_in_order_and_is_seen(browser: Chromium, tmp_path: Path) -> None:
    browser.show(written(tmp_path, failing()))
    focusable = browser.ask("document.querySelectorAll('a, summary, [tabindex=\"0\"]').length")

    walked: list[Any] = []
    for _ in range(focusable):
        browser.press("Tab")
        walked.append(browser.ask(FOCUS))

    places = [each["at"] for each in walked]
    assert places == sorted(set(places))
    assert all(each["ring"] == "solid3px" for each in walked)


def test_a_link_in_the_grid_leads_to_its_cell(browser: Chromium, tmp_path: Path) -> None:
    browser.show(written(tmp_path, failing()))

    browser.ask("document.querySelector('.grid tbody tr:nth-child(2) a').click()")

    at = browser.ask("document.querySelector(location.hash).innerText")
    assert "shop/bare" in at
    assert "lost-write" in at
    assert browser.ask("document.querySelector(':target').getBoundingClientRect().top") < 900


def test_the_names_of_agents_and_cases_stay_in_view(browser: Chromium, tmp_path: Path) -> None:
    browser.show(written(tmp_path, wide(), opened=False), width=700)

    place = """(() => {
      const box = document.querySelector('.grid'), all = box.getBoundingClientRect();
      box.scrollTo(9999, 9999);
      const head = box.querySelector('thead th:last-child').getBoundingClientRect();
      const name = box.querySelector('tbody tr:last-child th').getBoundingClientRect();
      return [box.scrollTop, box.scrollLeft, head.top - all.top, name.left - all.left];
    })()"""
    down, across, head, name = browser.ask(place)
    assert min(down, across) > 0
    assert max(abs(head), abs(name)) <= 2


def test_a_long_run_scrolls_within_itself_beside_its_lanes(
    browser: Chromium, tmp_path: Path
) -> None:
    browser.show(written(tmp_path, failing()))

    found = browser.ask("""[...document.querySelectorAll('.timeline')].map(each => {
      const [names, box] = each.children;
      return [box.scrollWidth - box.clientWidth, names.getBoundingClientRect().height
              - box.firstChild.getBoundingClientRect().height];
    })""")
    assert max(over for over, _ in found) > 2000
    assert min(over for over, _ in found) == 0
    assert all(difference == 0 for _, difference in found)


@pytest.mark.parametrize("verdict", [failing, wide])
def test_a_printed_page_hides_nothing_in_boxes(
    browser: Chromium, tmp_path: Path, verdict: Callable[[], Verdict]
) -> None:
    shown = written(tmp_path, verdict(), opened=verdict is failing)
    browser.show(shown, width=720, media="print", dark=True)

    cut = browser.ask("""[...document.querySelectorAll('.box')].filter(each => {
      const style = getComputedStyle(each);
      return style.overflowX !== 'visible' || each.scrollHeight > each.clientHeight + 1;
    }).length""")
    assert cut == 0
    assert browser.ask("document.documentElement.scrollWidth") <= 720
    # Paper is white, whatever the screen is.
    assert browser.ask("getComputedStyle(document.body).color") == "rgb(27, 31, 36)"
    assert browser.call("Page.printToPDF")["data"]
