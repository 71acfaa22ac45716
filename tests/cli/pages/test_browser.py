"""Pages in a real browser: seen, clicked and typed into.  Without chromium and its driver these tests are skipped."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.support import ROOT, flinkplan

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
SAMPLE = ROOT / "sample_plans/order-shipping"

pytestmark = [
    pytest.mark.programs,
    pytest.mark.skipif(not (BROWSER and DRIVER), reason="needs chromium and chromedriver"),
    pytest.mark.xdist_group("browser"),
]

SWITCHES = (
    *("headless", "no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking"),
    *("disable-component-update", "disable-sync", "disable-dev-shm-usage", "window-size=1500,900"),
)

CONTRASTS = """
const light = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const ground = (e) => {
  for (; e; e = e.parentElement) {
    const found = getComputedStyle(e).backgroundColor.match(/[\\d.]+/g).map(Number);
    if (found.length < 4 || found[3] > 0) return found;
  }
  return [255, 255, 255];
};
return [...document.querySelectorAll("body *")]
  .filter((e) => e.offsetParent && [...e.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim()))
  .map((e) => {
    const ink = getComputedStyle(e).color.match(/[\\d.]+/g).map(Number);
    const [a, b] = [light(ink), light(ground(e))].sort((x, y) => y - x);
    return [(a + 0.05) / (b + 0.05), e.className || e.tagName];
  })
  .filter(([ratio]) => ratio < 4.5);
"""
"""The texts whose contrast with their ground is below what WCAG 2.1 asks for (level AA)."""


SCALE = "return new DOMMatrix(getComputedStyle(document.getElementById('canvas')).transform).a"

OVERFLOW = """
const view = document.getElementById("view");
return [view.scrollWidth > view.clientWidth + 1, view.scrollHeight > view.clientHeight + 1];
"""

CROSSED = """
const boxes = [...document.querySelectorAll(".node")].filter((e) => !e.hidden).map((e) => ({
  left: e.offsetLeft + 3, right: e.offsetLeft + e.offsetWidth - 3,
  top: e.offsetTop + 3, bottom: e.offsetTop + e.offsetHeight - 3,
}));
return [...document.querySelectorAll("path.edge")].filter((path) => {
  const length = path.getTotalLength();
  for (let at = 0; at < length; at += 4) {
    const { x, y } = path.getPointAtLength(at);
    if (boxes.some((b) => x > b.left && x < b.right && y > b.top && y < b.bottom)) return true;
  }
  return false;
}).map((path) => path.getAttribute("d"));
"""
"""The arrows that pass through a box."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER or ""
    for switch in (*SWITCHES, f"user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(f"--{switch}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield chrome
    chrome.quit()


@pytest.fixture
def plan(browser: Chrome, tmp_path: Path) -> Chrome:
    """The page of a plan."""
    file = tmp_path / "plan.html"
    assert flinkplan("explain", str(SAMPLE / "pipeline.sql"), "--format", "html", "-o", str(file)).code == 0
    browser.get(file.as_uri())
    return browser


def node(page: Chrome, name: str) -> WebElement:
    return next(each for each in page.find_elements("css selector", ".node") if f"{name}\n" in f"{each.text}\n")


def logged(page: Chrome, what: str) -> list[str]:
    """The messages of one of the browser's logs since it was last asked for."""
    return [entry["message"] for entry in page.get_log(what)]  # type: ignore[no-untyped-call]


def details(page: Chrome) -> str:
    return str(page.find_element("id", "details").text)


def test_the_page_is_whole_and_quiet(plan: Chrome) -> None:
    assert len(plan.find_elements("css selector", ".node")) == 7
    assert len(plan.find_elements("css selector", "path.edge")) == 6
    assert "join.leftState" in details(plan)
    assert logged(plan, "browser") == []
    asked = [message for message in logged(plan, "performance") if "Network.requestWillBeSent" in message]
    assert asked
    assert not any('"url":"http' in message for message in asked)


def test_nodes_do_not_lie_on_each_other(plan: Chrome) -> None:
    boxes = [each.rect for each in plan.find_elements("css selector", ".node")]
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            beside = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
            below = a["y"] + a["height"] <= b["y"] or b["y"] + b["height"] <= a["y"]
            assert beside or below


def test_a_click_shows_what_is_known_of_a_node(plan: Chrome) -> None:
    node(plan, "Join").click()
    text = details(plan)
    assert "Join(joinType=[InnerJoin]" in text
    assert "leftState" in text
    assert "native Join" in text


@pytest.mark.parametrize(
    ("name", "marked"),
    [("Sink", ["OrdersShipInfo"]), ("Join", ["JOIN LineOrders b\n  ON a.line_order_id = b.line_order_id"])],
)
def test_the_places_of_a_node_are_marked_in_the_sql(plan: Chrome, name: str, marked: list[str]) -> None:
    node(plan, name).click()
    assert [mark.get_property("textContent") for mark in plan.find_elements("css selector", "mark")] == marked


def test_keys_go_along_the_edges(plan: Chrome) -> None:
    from selenium.webdriver.common.keys import Keys

    node(plan, "Sink").send_keys(Keys.ARROW_UP)
    plan.switch_to.active_element.send_keys(Keys.ARROW_UP)
    assert details(plan).startswith("Join")
    plan.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert details(plan).startswith("Calc")
    plan.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert "ALL STATES" in details(plan).upper()


def test_search(plan: Chrome) -> None:
    plan.find_element("id", "search").send_keys("leftstate")
    assert plan.find_element("id", "found").text == "1 of 7"
    assert len(plan.find_elements("css selector", ".node.faint")) == 6


def test_folding_hides_what_a_node_reads(plan: Chrome) -> None:
    fold = plan.find_element("css selector", ".fold[aria-label^='Hide what Join']")
    fold.click()
    shown = [each for each in plan.find_elements("css selector", ".node") if each.is_displayed()]
    assert len(shown) == 3
    assert fold.get_attribute("aria-expanded") == "false"
    fold.click()
    assert all(each.is_displayed() for each in plan.find_elements("css selector", ".node"))


LARGE = """
CREATE TABLE s (id BIGINT, k STRING, v DOUBLE) WITH ('connector' = 'datagen');
CREATE TABLE d (k STRING, name STRING) WITH ('connector' = 'datagen');
{tables}
EXECUTE STATEMENT SET BEGIN
{inserts}
END;
"""
"""Sinks of joins and aggregates."""


@pytest.fixture
def large(browser: Chrome, tmp_path: Path) -> Chrome:
    """The page of a plan of some hundred operators."""
    sinks = range(12)
    tables = "\n".join(f"CREATE TABLE o{n} (name STRING, c BIGINT) WITH ('connector' = 'print');" for n in sinks)
    inserts = "\n".join(
        f"INSERT INTO o{n} SELECT d.name, COUNT(*) FROM s JOIN d ON s.k = d.k WHERE s.v > {n} GROUP BY d.name;"
        for n in sinks
    )
    script, file = tmp_path / "large.sql", tmp_path / "large.html"
    script.write_text(LARGE.format(tables=tables, inserts=inserts))
    assert flinkplan("explain", str(script), "--format", "html", "-o", str(file)).code == 0
    browser.get(file.as_uri())
    return browser


def visible(page: Chrome) -> list[WebElement]:
    return [each for each in page.find_elements("css selector", ".node") if each.is_displayed()]


def test_a_large_plan_begins_as_chains_that_can_be_read(large: Chrome) -> None:
    from selenium.webdriver.support.select import Select

    count = large.execute_script("return JSON.parse(document.getElementById('graph').textContent).nodes.length")
    chains = visible(large)
    assert count > 60
    assert len(chains) < count / 2
    assert min(each.size["width"] * large.execute_script(SCALE) for each in chains) > 120
    assert large.find_element("id", "map").is_displayed()
    Select(large.find_element("id", "level")).select_by_value("all")
    assert len(visible(large)) == count
    large.find_element("id", "fit").click()
    assert large.execute_script(OVERFLOW) == [False, False]
    assert not large.find_element("id", "map").is_displayed()


def test_a_chain_opens_and_closes(large: Chrome) -> None:
    before = len(visible(large))
    chain = next(each for each in visible(large) if "chain of" in each.text)
    length = int(chain.text.rpartition("chain of ")[2])
    large.execute_script("arguments[0].click()", chain)
    assert "→" in details(large)
    large.find_element("xpath", "//button[text()='Show one by one']").click()
    assert len(visible(large)) == before - 1 + length
    large.find_element("xpath", "//button[text()='Show as a chain']").click()
    assert len(visible(large)) == before


def test_the_map_leads_to_the_other_end(large: Chrome) -> None:
    from selenium.webdriver import ActionChains

    view, overview = large.find_element("id", "view"), large.find_element("id", "map")
    left = view.get_property("scrollLeft")
    half = overview.size["width"] // 2 - 4
    side = half if int(str(left)) == 0 else -half
    ActionChains(large).move_to_element_with_offset(overview, side, 0).click().perform()
    assert view.get_property("scrollLeft") != left


def test_arrows_pass_no_box(large: Chrome) -> None:
    assert large.execute_script(CROSSED) == []


@pytest.mark.parametrize("width", [390, 800, 1400])
def test_nothing_lies_beyond_the_edge(width: int, large: Chrome) -> None:
    """Not on a telephone either; the window itself cannot be made that narrow."""
    url = large.current_url
    large.get("about:blank")
    try:
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        large.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        large.get(url)
        assert large.execute_script("return document.documentElement.scrollWidth") <= width
        theme = large.find_element("id", "theme").rect
        assert theme["x"] + theme["width"] <= width
    finally:
        large.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_texts_can_be_read_in_light_and_in_dark(plan: Chrome) -> None:
    node(plan, "Join").click()
    themes = set()
    for _ in range(2):
        plan.find_element("id", "theme").click()
        themes.add(plan.execute_script("return document.documentElement.dataset.theme"))
        assert plan.execute_script(CONTRASTS) == []
    assert themes == {"light", "dark"}


def test_hostile_texts_are_shown_and_not_obeyed(browser: Chrome, tmp_path: Path) -> None:
    from tests.cli.pages.test_pages import HOSTILE, hostile

    file = tmp_path / "hostile.html"
    file.write_text(hostile(), "utf-8")
    browser.get(file.as_uri())
    browser.find_element("css selector", ".node").click()
    assert HOSTILE in details(browser)
    assert browser.find_element("id", "title").text == HOSTILE
    assert logged(browser, "browser") == []


def test_a_difference(browser: Chrome, tmp_path: Path) -> None:
    script, new, file = tmp_path / "new.sql", tmp_path / "new.json", tmp_path / "diff.html"
    text = (SAMPLE / "pipeline.sql").read_text()
    script.write_text(text.replace("b.line_order_id;", "b.line_order_id WHERE a.order_id > 5;"))
    assert flinkplan("compile", str(script), "-o", str(new)).code == 0
    flinkplan("diff", str(SAMPLE / "plan.json"), str(new), "--format", "html", "-o", str(file))
    browser.get(file.as_uri())
    assert browser.find_element("css selector", "header .verdict").text == "incompatible"
    browser.find_element("css selector", ".node[data-mark='added']").click()
    assert "compatible" in details(browser).lower()
    assert browser.execute_script(CONTRASTS) == []
    assert logged(browser, "browser") == []


def test_the_page_of_a_run(browser: Chrome, tmp_path: Path) -> None:
    from flinkplan.cli.pages.report import Report
    from tests.cli.test_watching import batch

    report = Report("a <b>run</b>")
    for number in range(5):
        report.batch_done(batch(number))
    report.ended("finished")
    file = tmp_path / "run.html"
    report.write(str(file))
    browser.get(file.as_uri())
    assert browser.find_element("id", "title").text == "a <b>run</b>"
    assert browser.find_element("id", "subtitle").text.startswith("finished")
    captions = [each.text for each in browser.find_elements("css selector", "figcaption")]
    assert captions[:4] == ["Rows in", "Rows out", "Time of a batch", "Watermark behind the clock"]
    assert "50" in browser.find_element("id", "totals").text
    assert browser.execute_script(CONTRASTS) == []
    assert logged(browser, "browser") == []


def test_the_page_follows_a_run(browser: Chrome) -> None:
    from selenium.webdriver.support.wait import WebDriverWait

    from flinkplan.cli.pages.report import Report, served
    from tests.cli.test_watching import batch

    report = Report("a run")
    with served(report, 0) as address:
        browser.get(address)
        assert "no batch yet" in browser.find_element("id", "subtitle").text
        report.batch_done(batch(1))
        WebDriverWait(browser, 10).until(lambda page: page.find_elements("css selector", "figure"))


def test_the_difference_of_a_project(browser: Chrome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.cli.test_pipelines_as_input import commit, git

    monkeypatch.chdir(tmp_path)
    text = (SAMPLE / "pipeline.sql").read_text()
    for name in ("a.sql", "b.sql"):
        Path(name).write_text(text)
    Path("pyproject.toml").write_text('[tool.flinkplan]\npipelines = ["*.sql"]\n')
    git("init", "-q", "-b", "main")
    commit()
    Path("a.sql").write_text(text.replace("b.line_order_id;", "b.line_order_id WHERE a.order_id > 5;"))
    Path("b.sql").write_text(text.replace("a.line_order_id = b.line_order_id", "a.order_id = b.line_order_id"))
    flinkplan("diff", "--base", "main", "--format", "html", "-o", "project.html")
    logged(browser, "browser")
    browser.get(Path("project.html").absolute().as_uri())
    cells = [cell.text for cell in browser.find_elements("css selector", "td")]
    assert (cells[0], cells[5]) == ("a.sql", "b.sql")
    verdicts = []
    for details in browser.find_elements("css selector", "details"):
        details.find_element("css selector", "summary").click()
        browser.switch_to.frame(details.find_element("css selector", "iframe"))
        verdicts.append(browser.find_element("css selector", "header .verdict").text)
        assert browser.find_elements("css selector", ".node")
        assert browser.find_elements("css selector", "#sql pre")
        browser.switch_to.default_content()
    assert verdicts == ["compatible", "incompatible"]
    assert logged(browser, "browser") == []


def test_the_way_of_a_column(plan: Chrome) -> None:
    sink = next(node for node in plan.find_elements("css selector", ".node") if "OrdersShipInfo" in node.text)
    sink.click()
    column = next(each for each in plan.find_elements("css selector", "button.column") if each.text == "ship_mode")
    column.click()
    shown = details(plan)
    assert shown.startswith("The way of ship_mode")
    assert "LineOrders" not in shown or "TableSourceScan" in shown
    faint = [node.text for node in plan.find_elements("css selector", ".node.faint")]
    assert any("Orders" in text and "LineOrders" not in text for text in faint)
    assert not any("LineOrders" in text for text in faint)
    plan.find_elements("css selector", "#details td button")[0].click()
    assert plan.find_elements("css selector", ".node.faint") == []
