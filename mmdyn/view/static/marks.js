// Marks on the samples of a set: kept in the browser by the set's digest, saved as the lines that `mmdyn data apply` reads.
"use strict";

const bar = document.querySelector("[data-marks]");
const told = bar.querySelector("[role=status]");
const place = `mmdyn-marks-${bar.dataset.marks}`;
const cards = [...document.querySelectorAll("[data-seen]")];
let marks = {};

function stored(use) {
  try {
    return use(localStorage);
  } catch {
    return null; // a browser may refuse storage: marks then last as long as the page
  }
}

const name = (card) => JSON.parse(card.dataset.seen).id;

function show(card) {
  for (const button of card.querySelectorAll("button[value]")) {
    button.setAttribute("aria-pressed", String(button.value === marks[name(card)]?.label));
  }
}

function count(more = "") {
  const labels = Object.values(marks).map((mark) => mark.label);
  told.textContent = `${labels.length} marked, ${labels.filter((label) => label === "reject").length} to reject${more}`;
}

function set(card, label) {
  if (label) marks[name(card)] = { ...JSON.parse(card.dataset.seen), label };
  else delete marks[name(card)];
  stored((storage) => storage.setItem(place, JSON.stringify(marks)));
  show(card);
  count();
}

function save() {
  const lines = Object.values(marks).map((mark) => `${JSON.stringify(mark)}\n`);
  if (!lines.length) return count("; nothing to save yet");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }));
  link.download = "labels.jsonl";
  link.click();
  count("; saved labels.jsonl");
}

function go(step) {
  const next = cards[Math.max(0, Math.min(cards.length - 1, cards.indexOf(document.activeElement.closest("[data-seen]")) + step))];
  next?.focus();
  next?.scrollIntoView({ block: "start" });
}

document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  const card = document.activeElement.closest("[data-seen]");
  const labels = { 1: "keep", 2: "reject", 0: "" };
  if (event.key === "j" || event.key === "k") go(event.key === "j" ? 1 : -1);
  else if (event.key === "s") save();
  else if (event.key in labels && card) set(card, labels[event.key]);
  else return;
  event.preventDefault();
});

for (const card of cards) {
  for (const button of card.querySelectorAll("button[value]")) {
    button.addEventListener("click", () => set(card, button.getAttribute("aria-pressed") === "true" ? "" : button.value));
  }
}
bar.querySelector("[data-save]").addEventListener("click", save);
marks = stored((storage) => JSON.parse(storage.getItem(place))) ?? {};
cards.forEach(show);
count();
