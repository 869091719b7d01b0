(() => {
  "use strict";
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  const keyOf = (cell) => (cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v));
  const order = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : compare(String(a), String(b)));

  const sort = (table, place) => {
    const head = table.tHead.rows[0].cells[place];
    const numeric = head.classList.contains("n");
    const now = head.getAttribute("aria-sort");
    const next = now === null ? (numeric ? "descending" : "ascending") : now === "ascending" ? "descending" : "ascending";
    const sign = next === "ascending" ? 1 : -1;
    const rows = Array.from(table.tBodies[0].rows, (row) => {
      const cell = row.cells[place];
      return { row, missing: cell.classList.contains("none"), key: keyOf(cell) };
    });
    rows.sort((a, b) => a.missing - b.missing || (a.missing ? 0 : sign * order(a.key, b.key)));
    table.tBodies[0].append(...rows.map(({ row }) => row));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", next);
  };

  for (const table of document.querySelectorAll("table.data")) {
    Array.from(table.tHead.rows[0].cells).forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const preview = table.closest(".preview");
        if (!preview) return sort(table, place);
        const block = preview.nextElementSibling;
        const full = block.querySelector("table.data");
        block.open = true;
        sort(full, place);
        full.tHead.rows[0].cells[place].querySelector("button").focus();
      });
    });
  }

  const closed = new Set();
  addEventListener("beforeprint", () => {
    for (const block of document.querySelectorAll("details:not([open])")) {
      closed.add(block);
      block.open = true;
    }
  });
  addEventListener("afterprint", () => {
    for (const block of closed) block.open = false;
    closed.clear();
  });
})();
