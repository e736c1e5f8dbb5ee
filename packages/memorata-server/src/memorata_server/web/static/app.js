// What pages do beside links and forms: lean requests, numbers beside sliders, keys. All of it is an extra;
// without this file every page still works.
"use strict";

// --- requests: every form carries the token; what is as usual is left out of an address -----------------

document.addEventListener("htmx:configRequest", (event) => {
  const { parameters, verb, headers } = event.detail;
  if (verb !== "get") headers["X-Form-Token"] = document.body.dataset.token;
  const form = event.detail.elt.closest("[data-lean]");
  if (!form || event.detail.elt !== form) return;
  for (const field of form.querySelectorAll("[data-default]")) {
    const value = field.type === "checkbox" ? String(field.checked) : field.value;
    if (value === field.dataset.default) delete parameters[field.name];
  }
});

// A page that is left as it was, without a word, looks like an answer.
const unanswered = (is) => {
  document.getElementById("unanswered").hidden = !is;
};
for (const name of ["htmx:sendError", "htmx:timeout"]) document.addEventListener(name, () => unanswered(true));
document.addEventListener("htmx:beforeOnLoad", () => unanswered(false));

// A double click is meant once: what is remembered twice counts as said twice.
const sent = new WeakMap();
document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    if (form.getAttribute("method") !== "post") return;
    if (Date.now() - (sent.get(form) ?? 0) >= 2000) {
      sent.set(form, Date.now());
    } else {
      event.preventDefault();
      event.stopPropagation();
    }
  },
  true,
);

// A form that is refused stays as it is, and the reason stands in it.
document.addEventListener("htmx:beforeSwap", (event) => {
  const form = event.detail.requestConfig.elt.closest("form[data-keep]");
  if (!form || event.detail.xhr.status < 400) return;
  let notice = form.querySelector("[data-refused]");
  if (!notice) {
    notice = form.insertBefore(document.createElement("div"), form.firstChild);
    notice.dataset.refused = "";
  }
  event.detail.shouldSwap = true;
  event.detail.target = notice;
  sent.delete(form);
});

// --- controls -------------------------------------------------------------------------------------------

function mark(field) {
  if (field.dataset.default === undefined) return;
  const box = field.closest(".control");
  if (!box) return;
  const value = field.type === "checkbox" ? String(field.checked) : field.value;
  box.classList.toggle("changed", value !== field.dataset.default);
  const output = box.querySelector("output");
  if (output) output.textContent = String(Number(Number(value).toPrecision(4)));
}

document.addEventListener("input", (event) => mark(event.target));

document.addEventListener("change", async (event) => {
  const file = event.target.dataset.into && event.target.files[0];
  if (file) {
    document.getElementById(event.target.dataset.into).value = await file.text();
    event.target.form.elements.file.value = file.name;
  }
  const form = event.target.closest("[data-submit-on-change]");
  if (form) form.requestSubmit();
  if (event.target.matches("[data-tick-all]")) {
    for (const box of document.querySelectorAll("[data-tick]")) box.checked = event.target.checked;
  }
  if (event.target.matches("[data-tick], [data-tick-all]")) countTicks();
});

function countTicks() {
  const ticked = document.querySelectorAll("[data-tick]:checked").length;
  for (const place of document.querySelectorAll("[data-ticked]")) place.textContent = String(ticked);
  for (const button of document.querySelectorAll("[data-needs-ticks]")) button.disabled = ticked === 0;
}

document.addEventListener("DOMContentLoaded", () => {
  countTicks();
  for (const extra of document.querySelectorAll("[data-palette], [data-into]")) extra.hidden = false;
});
document.addEventListener("htmx:afterSwap", countTicks);

// --- theme ----------------------------------------------------------------------------------------------

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-theme-switch]");
  if (!button) return;
  event.preventDefault();
  const theme = button.value;
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  const path = new URL(button.form.action).pathname.slice(0, -"/theme".length) || "/";
  document.cookie = `memorata-theme=${theme}; path=${path}; max-age=31536000; samesite=strict`;
  button.value = { "": "dark", dark: "light", light: "" }[theme];
  button.title = `Theme: ${theme || "as the system has it"}`;
  button.setAttribute("aria-label", button.title);
  document.dispatchEvent(new Event("theme"));
});

// --- palette --------------------------------------------------------------------------------------------

const palette = document.getElementById("palette");

function openPalette() {
  if (!palette || palette.open) return;
  palette.showModal();
  const field = palette.querySelector("input");
  field.value = "";
  htmx.trigger(field, "open");
}

function choose(option) {
  for (const each of palette.querySelectorAll("[role=option]")) {
    each.setAttribute("aria-selected", String(each === option));
  }
  option.scrollIntoView({ block: "nearest" });
  palette.querySelector("input").setAttribute("aria-activedescendant", option.id);
}

palette?.addEventListener("keydown", (event) => {
  const options = [...palette.querySelectorAll("[role=option]")];
  const now = options.findIndex((each) => each.getAttribute("aria-selected") === "true");
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by && options.length) {
    event.preventDefault();
    choose(options[(now + by + options.length) % options.length]);
  } else if (event.key === "Enter") {
    event.preventDefault();
    options[now]?.click();
  }
});
// Next to it, not in it: the palette is left as by Escape.
palette?.addEventListener("click", (event) => {
  if (event.target === palette) palette.close();
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-palette]")) openPalette();
  if (event.target.closest("[data-keys]")) document.getElementById("keys").showModal();
});

// --- keys -----------------------------------------------------------------------------------------------

function step(by) {
  const rows = [...document.querySelectorAll("[data-row]")];
  if (!rows.length) return;
  const now = rows.findIndex((row) => row.classList.contains("current"));
  const next = rows[Math.min(rows.length - 1, Math.max(0, now + by))];
  for (const row of rows) row.classList.toggle("current", row === next);
  next.querySelector("a").focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function current(selector) {
  return document.querySelector(`[data-row].current ${selector}`);
}

const KEYS = {
  "/": () => document.querySelector("[type=search]")?.select(),
  j: () => step(1),
  k: () => step(-1),
  e: () => current(".why > summary")?.click(),
  x: () => current("[data-tick]")?.click(),
  "?": () => document.getElementById("keys").showModal(),
};

// Enter in the search field goes on to the hits, once they are there.
let toHits = false;
document.addEventListener("submit", (event) => {
  toHits = event.target.id === "search" && document.activeElement?.id === "q";
});
document.addEventListener("htmx:afterSwap", (event) => {
  if (!toHits || event.target.id !== "results") return;
  toHits = false;
  document.getElementById("q").blur();
  step(1);
});

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "k") {
    event.preventDefault();
    openPalette();
    return;
  }
  const typing = event.target.matches("input:not([type=checkbox], [type=radio], [type=range]), textarea, select");
  if (event.key === "Escape" && typing && !event.target.closest("dialog")) {
    // A search field would be emptied by it.
    event.preventDefault();
    event.target.blur();
  }
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
  if (document.querySelector("dialog[open]")) return;
  event.preventDefault();
  KEYS[event.key]();
});
