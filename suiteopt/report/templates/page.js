"use strict";
// Sorting: each heading becomes a button; empty cells stay last either way.
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = heading.getAttribute("aria-sort") !== "ascending";
      const numeric = heading.hasAttribute("data-numeric");
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = row => row.cells[column].dataset.order;
      const number = text => (text === "inf" ? Infinity : Number(text));
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const x = key(a), y = key(b);
        if (x === "" || y === "") return (x === "") - (y === "");
        const order = numeric ? Math.sign(number(x) - number(y)) || 0
          : x.localeCompare(y, undefined, { numeric: true });
        return up ? order : -order;
      });
      table.tBodies[0].append(...rows);
    });
  });
}
// Filters: a text in the row or entry, a word in a column, a positive number in a column.
// A long list begins with its first entries; a search looks through all of them.
for (const form of document.querySelectorAll("form.filter")) {
  const table = form.dataset.table && document.getElementById(form.dataset.table);
  const items = table ? [...table.tBodies[0].rows]
    : [...document.getElementById("list-" + form.dataset.list).children];
  const text = item => (table ? item.textContent : item.dataset.text).toLowerCase();
  const said = form.querySelector("output");
  const all = form.querySelector("button.all");
  let first = Number(form.dataset.first || Infinity);
  const apply = () => {
    const wanted = form.querySelector("input[type=search]").value.trim().toLowerCase();
    const most = wanted === "" ? first : Infinity;
    let shown = 0;
    for (const item of items) {
      let keep = text(item).includes(wanted);
      for (const select of form.querySelectorAll("select")) {
        const cell = item.cells[Number(select.dataset.column)];
        keep = keep && (select.value === "" || cell.dataset.order === select.value);
      }
      for (const box of form.querySelectorAll("input[data-positive]")) {
        const cell = item.cells[Number(box.dataset.positive)];
        keep = keep && (!box.checked || Number(cell.dataset.order) > 0);
      }
      item.hidden = !keep || shown >= most;
      shown += !item.hidden;
    }
    said.textContent = shown + " of " + items.length;
    if (all) all.hidden = items.length <= most;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", event => event.preventDefault());
  if (all) all.addEventListener("click", () => {
    const next = items[first].querySelector("summary");
    first = Infinity;
    apply();
    next.focus();
  });
  apply();
}
