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
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.getAttribute("method") !== "post") return;
  if (Date.now() - (sent.get(form) ?? 0) < 2000) event.preventDefault();
  else sent.set(form, Date.now());
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

document.addEventListener("change", (event) => {
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
  // On a phone the pages are in a row that is longer than the screen.
  document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
});
document.addEventListener("htmx:afterSwap", countTicks);

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

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input:not([type=checkbox], [type=range]), textarea, select");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});
