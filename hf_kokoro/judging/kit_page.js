"use strict";
// One rater's list. Ratings stay in this browser until they are saved as a file; nothing is sent anywhere.
(() => {
  const kit = JSON.parse(document.getElementById("kit").textContent);
  const page = document.getElementById("page");
  const place = `ratings-${kit.rater}-${kit.kit}`;
  const kept = (() => {
    try {
      return JSON.parse(localStorage.getItem(place)) || {};
    } catch {
      return {};
    }
  })();
  let at = Math.max(0, kit.items.findIndex((item) => !complete(item)));
  let current = 0;

  function ratings(item) {
    return kept[item.id] || (kept[item.id] = {});
  }

  function complete(item) {
    return kit.dimensions.every((dimension) => (kept[item.id] || {})[dimension.name] !== undefined);
  }

  function keep() {
    try {
      localStorage.setItem(place, JSON.stringify(kept));
    } catch {
      // a browser that keeps nothing for files: saving as a file still works
    }
  }

  function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  function choose(dimension, level) {
    ratings(kit.items[at])[dimension.name] = level;
    keep();
    const open = kit.dimensions.findIndex((other) => ratings(kit.items[at])[other.name] === undefined);
    current = open < 0 ? current : open;
    show();
  }

  function go(step) {
    at = Math.min(kit.items.length - 1, Math.max(0, at + step));
    const open = kit.dimensions.findIndex((other) => ratings(kit.items[at])[other.name] === undefined);
    current = Math.max(0, open);
    show();
    window.scrollTo(0, 0);
  }

  function scale(dimension, number) {
    const given = ratings(kit.items[at])[dimension.name];
    const levels = Object.entries(dimension.anchors).map(([level, text]) => {
      const input = element("input", { type: "radio", name: dimension.name, value: level, checked: given === Number(level) });
      input.addEventListener("change", () => choose(dimension, Number(level)));
      return element("label", {}, input, ` ${level}: ${text}`);
    });
    const box = element("fieldset", { className: number === current ? "current" : "" });
    box.addEventListener("click", () => { current = number; });
    box.append(
      element("legend", { textContent: dimension.name }),
      element("div", { textContent: dimension.asks }),
      ...levels,
      element("p", { className: "doubt", textContent: `In doubt: ${dimension.doubt}` }),
    );
    return box;
  }

  function button(text, action) {
    const made = element("button", { type: "button", textContent: text });
    made.addEventListener("click", action);
    return made;
  }

  function show() {
    const item = kit.items[at];
    const done = kit.items.filter(complete).length;
    const note = element("textarea", { value: ratings(item).note || "", rows: 2 });
    note.addEventListener("input", () => { ratings(item).note = note.value; keep(); });
    page.replaceChildren(
      element("header", {},
        button("← back", () => go(-1)),
        element("progress", { max: kit.items.length, value: done }),
        element("span", { id: "count", textContent: `${done} of ${kit.items.length} rated, this is ${at + 1}` }),
        button("next →", () => go(1)),
        button("save as file", save)),
      element("article", { className: "question", textContent: item.question }),
      element("article", { className: "answer", textContent: item.answer }),
      ...kit.dimensions.map(scale),
      element("label", { textContent: "note" }, note),
      element("p", { className: "note", textContent: "Keys: the digit of a level rates the marked scale, up and down move the mark, left and right move between answers. You may stop at any time: this browser remembers. Nothing here is for clinical decisions." }),
    );
  }

  function cell(value) {
    const text = value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  function table() {
    const rows = kit.items.filter((item) => kept[item.id]).map((item) => [item.id, ...kit.columns.slice(1).map((name) => kept[item.id][name])]);
    return [kit.columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
  }

  function save() {
    const file = new Blob([table()], { type: "text/csv" });
    const link = element("a", { href: URL.createObjectURL(file), download: `${kit.rater}.ratings.csv` });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  document.addEventListener("keydown", (event) => {
    if (event.target.tagName === "TEXTAREA" || event.ctrlKey || event.metaKey || event.altKey) return;
    const dimension = kit.dimensions[current];
    if (dimension.anchors[event.key] !== undefined) choose(dimension, Number(event.key));
    else if (event.key === "ArrowRight" || event.key === "Enter") go(1);
    else if (event.key === "ArrowLeft") go(-1);
    else if (event.key === "ArrowDown") { current = (current + 1) % kit.dimensions.length; show(); }
    else if (event.key === "ArrowUp") { current = (current + kit.dimensions.length - 1) % kit.dimensions.length; show(); }
    else return;
    event.preventDefault();
  });
  go(0);
})();
