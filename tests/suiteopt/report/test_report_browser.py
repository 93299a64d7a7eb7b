"""The page in headless Chromium: wide and narrow, light and dark, by mouse and by keyboard."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from suiteopt.report.collect import Wanted, collect
from suiteopt.report.write import write_report
from tests.suiteopt.builders import site, tiny_matrix

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]

SIZES = {"desktop": (1280, 900), "phone": (390, 844), "small phone": (320, 640)}
LONG = "50_conv_standard_2D__square_input__square_kernel_and_a_bias_and_an_activation"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    kills = {
        "level1/001": [[0, 0]] * 31 + [[1, 0]],
        "level1/019": [[1, 0], [0, 1]],
        "level1/050": [[1, 0], [0, 0], [1, 1]],
    }
    matrix = tiny_matrix(
        tmp_path_factory.mktemp("browser") / "m",
        kills,
        own=True,
        mutants={"level1/001:m0": {"before": "__global__", "after": "__device__",
                                   "sites": [site(0) | {"end": 10, "end_column": 11}]}},
        problems={
            "level1/019": {"operation_class": "elementwise"},
            "level1/050": {"operation_class": "convolution", "name": LONG},
        },
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("page")
    write_report(collect(matrix, Wanted(repeats=1, budget=2)), folder)
    return (folder / "index.html").as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        # Root, as which containers run, may not use the sandbox; the page is our own.
        running = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


class Opened:
    """A page, what its console said, and what it asked the network for."""

    def __init__(self, browser: Any, address: str, size: str, scheme: str = "light") -> None:
        width, height = SIZES[size]
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            reduced_motion="reduce",
        )
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(address)


@pytest.fixture
def opened(browser: Any, address: str) -> Iterator[Any]:
    found: list[Opened] = []

    def open_(size: str = "desktop", scheme: str = "light") -> Opened:
        found.append(Opened(browser, address, size, scheme))
        return found[-1]

    yield open_
    for one in found:
        one.context.close()


def shown(page: Any, selector: str) -> list[str]:
    """Texts of what is visible, each on one line."""
    return [
        " ".join(item.inner_text().split())
        for item in page.locator(selector).all()
        if item.is_visible()
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_it_fits_and_says_nothing_in_the_console(
    opened: Any, address: str, size: str, scheme: str
) -> None:
    one = opened(size, scheme)
    page = one.page
    assert one.said == []
    assert [url for url in one.asked if not url.startswith("data:")] == [address]
    assert page.evaluate("document.documentElement.scrollWidth") == SIZES[size][0]
    outside = page.evaluate(
        """() => [...document.querySelectorAll("h1, h2, h3, p, dl, figure, form, nav, .scroll")]
             .filter(e => e.checkVisibility())
             .map(e => [e.outerHTML.slice(0, 60), e.getBoundingClientRect()])
             .filter(([, r]) => r.left < -0.5 && r.left > -500 || r.right > innerWidth + 0.5)
             .map(([text]) => text)"""
    )
    assert outside == []


@pytest.mark.parametrize("size", SIZES)
def test_no_number_breaks_over_lines_and_no_figure_is_cut(opened: Any, size: str) -> None:
    page = opened(size).page
    broken = page.evaluate(
        """() => [...document.querySelectorAll("td.number")].filter(cell => {
             const range = document.createRange();
             range.selectNodeContents(cell);
             return new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1;
           }).map(cell => cell.textContent)"""
    )
    assert broken == []
    cut = page.evaluate(
        """() => [...document.querySelectorAll("svg text")].filter(text => {
             const box = text.getBBox(), view = text.ownerSVGElement.viewBox.baseVal;
             return box.x < 0 || box.x + box.width > view.width || box.y + box.height > view.height;
           }).map(text => text.textContent)"""
    )
    assert cut == []
    smallest = page.evaluate(
        """() => Math.min(...[...document.querySelectorAll("svg text")].map(text =>
             parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"""
    )
    assert smallest >= 9  # CSS pixels


def test_labels_of_an_axis_do_not_run_into_each_other(opened: Any) -> None:
    page = opened().page
    touching = page.evaluate(
        """() => [...document.querySelectorAll("figure svg")].flatMap(svg => {
             const texts = [...svg.querySelectorAll("text.soft")];
             const boxes = texts.map(t => [t.textContent, t.getBBox()]);
             return boxes.flatMap(([a, p], i) => boxes.slice(i + 1)
               .filter(([, q]) => p.x < q.x + q.width && q.x < p.x + p.width
                                  && p.y + 4 < q.y + q.height && q.y + 4 < p.y + p.height)
               .map(([b]) => a + " | " + b));
           })"""
    )
    assert touching == []


def test_light_and_dark_differ_and_both_have_contrast(opened: Any) -> None:
    pairs = {}
    for scheme in ("light", "dark"):
        pairs[scheme] = opened("desktop", scheme).page.evaluate(
            """() => {
                 const style = getComputedStyle(document.body);
                 return [style.color, style.backgroundColor].map(text => {
                   const [r, g, b] = text.match(/\\d+/g).map(Number);
                   return (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
                 });
               }"""
        )
    (ink, paper), (dark_ink, dark_paper) = pairs["light"], pairs["dark"]
    assert ink < 0.2 < 0.9 < paper
    assert dark_paper < 0.2 < 0.8 < dark_ink


def test_the_table_filters_by_text_operation_and_survivors(opened: Any) -> None:
    page = opened().page
    form = page.locator("form[data-table=table-problems]")
    rows = "#table-problems tbody th"
    said = form.locator("output")
    assert shown(page, rows) == ["level1/001", "level1/019", "level1/050"]
    form.get_by_label("Find a problem").fill("SQUARE_input")
    assert shown(page, rows) == ["level1/050"]
    assert said.inner_text() == "1 of 3"
    form.get_by_label("Find a problem").fill("")
    form.get_by_label("Operation").select_option("elementwise")
    assert shown(page, rows) == ["level1/019"]
    form.get_by_label("only with survivors").check()
    assert shown(page, rows) == []
    assert said.inner_text() == "0 of 3"
    form.get_by_label("Operation").select_option("")
    assert shown(page, rows) == ["level1/001", "level1/050"]


def test_the_table_sorts_by_keyboard_both_ways(opened: Any) -> None:
    page = opened().page
    faults = page.locator("#table-problems thead th").nth(3)
    faults.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert faults.get_attribute("aria-sort") == "ascending"
    assert shown(page, "#table-problems tbody th") == ["level1/019", "level1/050", "level1/001"]
    page.keyboard.press("Space")
    assert faults.get_attribute("aria-sort") == "descending"
    assert shown(page, "#table-problems tbody th") == ["level1/001", "level1/050", "level1/019"]


def test_a_long_list_begins_short_and_a_search_looks_through_all(opened: Any) -> None:
    page = opened("phone").page
    form = page.locator("form[data-list=survivors]")
    entries = page.locator("#list-survivors > details")
    total = entries.count()
    assert total == 32
    assert len(shown(page, "#list-survivors > details")) == 25
    assert form.locator("output").inner_text() == f"25 of {total}"
    form.get_by_role("searchbox").fill("level1/050")
    assert shown(page, "#list-survivors > details") == [" ".join(entries.last.inner_text().split())]
    form.get_by_role("searchbox").fill("")
    form.get_by_role("button", name="Show all").click()
    assert len(shown(page, "#list-survivors > details")) == total
    assert not form.get_by_role("button", name="Show all").is_visible()
    focused = page.evaluate("document.activeElement.parentElement.dataset.text")
    assert focused == entries.nth(25).get_attribute("data-text")


def test_a_keyboard_reaches_everything_in_order_and_sees_where_it_is(opened: Any) -> None:
    page = opened().page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.url.endswith("#headline")
    reached: list[str] = []
    for _ in range(200):
        page.keyboard.press("Tab")
        kind, outline = page.evaluate(
            """() => {
                 const e = document.activeElement;
                 return [e.closest("[id]").id + " " + e.tagName, getComputedStyle(e).outlineStyle];
               }"""
        )
        assert outline != "none", kind
        reached.append(kind)
        if kind.endswith("SUMMARY") and "survivors" in kind:
            break
    for wanted in ("table-problems BUTTON", "problems INPUT", "problems SELECT",
                   "survivors INPUT", "survivors BUTTON"):  # fmt: skip
        assert wanted in reached
    page.keyboard.press("Enter")
    entry = page.locator("#list-survivors > details").first
    assert entry.get_attribute("open") is not None
    assert entry.locator("pre.diff").is_visible()


def test_wide_tables_scroll_within_themselves_and_rows_keep_their_names(opened: Any) -> None:
    page = opened("phone").page
    region = page.locator(".scroll", has=page.locator("#table-problems"))
    assert region.evaluate("e => e.scrollWidth > e.clientWidth")
    region.evaluate("e => e.scrollTo(1000, 0)")
    left = region.bounding_box()["x"]
    name = page.locator("#table-problems tbody th").first.bounding_box()
    assert name["x"] == pytest.approx(left, abs=1)
    assert page.locator("#caption-problems a").bounding_box()["x"] < SIZES["phone"][0]


def test_without_scripts_everything_is_there(browser: Any, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator("#list-survivors > details").count() == 32
    assert all(entry.is_visible() for entry in page.locator("#list-survivors > details").all())
    assert not page.get_by_role("button", name="Show all").first.is_visible()
    context.close()
