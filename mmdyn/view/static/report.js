// What a report of one file does by itself: it puts pictures in their places, and filters questions.
"use strict";

const kept = document.getElementById("pictures");
const pictures = JSON.parse(kept.textContent);
for (const image of document.querySelectorAll("img[data-picture]")) {
  image.src = pictures[image.dataset.picture];
  if (!kept.dataset.label) continue;
  const label = document.createElement("span");
  label.className = "preview";
  label.textContent = kept.dataset.label;
  (image.closest(".frame") ?? image).after(label);
}

const blocks = [...document.querySelectorAll("details.card")];
const selects = [...document.querySelectorAll("select[data-filter]")];
const find = document.querySelector("[data-find]");

// A flip: the variant that shows it, its question, and its model, chain and outcomes, as the selects have them.
const flips = [...document.querySelectorAll("[data-flips]")].flatMap((variant) =>
  JSON.parse(variant.dataset.flips).map((told) => ({ variant, block: variant.closest("details.card"), told })));

function questions(found) {
  return new Set(found.map((flip) => flip.block));
}

function option(text, value, found) {
  return new Option(`${text} (${questions(found).size})`, value);
}

function filter() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const named = new Set(blocks.filter((block) => words.every((word) => block.textContent.toLowerCase().includes(word))));
  const fitting = (but) => flips.filter((flip) => named.has(flip.block)
    && selects.every((select, at) => at === but || !select.value || select.value === flip.told[at]));
  const options = selects.map((select, at) => {
    const found = fitting(at), values = new Set(found.map((flip) => flip.told[at]));
    if (select.value) values.add(select.value);
    const counted = [...values].map((value) => option(value, value, found.filter((flip) => flip.told[at] === value)));
    return [option("all", "", found), ...counted];
  });
  const shown = fitting(-1), seen = questions(shown), variants = new Set(shown.map((flip) => flip.variant));
  selects.forEach((select, at) => {
    const value = select.value;
    select.replaceChildren(...options[at]);
    select.value = value;
  });
  for (const block of blocks) block.hidden = !seen.has(block);
  for (const { variant } of flips) variant.hidden = !variants.has(variant);
  for (const block of seen) block.querySelector("[data-flips]:not([hidden])").open = true;
  document.querySelector("[data-found]").textContent = `${seen.size} of ${blocks.length} question${blocks.length === 1 ? "" : "s"}`;
}

if (find) {
  for (const one of [...selects, find]) one.addEventListener("input", filter);
  filter();
}
