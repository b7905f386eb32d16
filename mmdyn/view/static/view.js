// What pages do by themselves: formulas, keys, pictures that zoom together, the slider, and following a run that goes on.
"use strict";

const MOST_FORMULAS = 2000;
const FOLLOW_MS = 2500;

for (const place of [...document.querySelectorAll(".tex")].slice(0, MOST_FORMULAS)) {
  const source = place.textContent;
  const formula = document.createElement("span");
  try {
    katex.render(source, formula, {
      displayMode: place.classList.contains("display"), trust: false, output: document.body.dataset.formulas ?? "html", strict: "ignore",
      maxExpand: 200, maxSize: 20,
    });
  } catch {
    continue; // no formula that can be read: it stays text
  }
  place.replaceChildren(formula);
  place.title = source;
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const key = { ArrowRight: "n", ArrowLeft: "p" }[event.key] ?? event.key;
  if (event.key.startsWith("Arrow") && event.target.closest("[tabindex='0']")) return;
  if (key === "+" || key === "-") return zoom(key === "+" ? 1.25 : 0.8);
  for (const link of document.querySelectorAll("[data-key]")) {
    if (link.dataset.key === key) {
      event.preventDefault();
      link.click();
      return;
    }
  }
});

const frames = [...document.querySelectorAll(".frame")];
let scale = 1;

function zoom(factor) {
  scale = Math.min(8, Math.max(1, scale * factor));
  for (const frame of frames) {
    frame.classList.toggle("zoomed", scale > 1);
    frame.style.setProperty("--zoom", scale);
  }
}

for (const button of document.querySelectorAll("[data-zoom]")) {
  button.addEventListener("click", () => zoom(button.dataset.zoom === "in" ? 1.25 : 0.8));
}

let led = null;
for (const frame of frames) {
  frame.addEventListener("pointerenter", () => { led = frame; });
  frame.addEventListener("focus", () => { led = frame; });
  frame.addEventListener("scroll", () => {
    if (frame !== led) return;
    const across = frame.scrollLeft / Math.max(1, frame.scrollWidth - frame.clientWidth);
    const down = frame.scrollTop / Math.max(1, frame.scrollHeight - frame.clientHeight);
    for (const other of frames) {
      if (other === frame) continue;
      other.scrollLeft = across * (other.scrollWidth - other.clientWidth);
      other.scrollTop = down * (other.scrollHeight - other.clientHeight);
    }
  });
}

document.querySelector(".mark[aria-current]")?.scrollIntoView({ block: "nearest" }); // of many models

for (const frame of frames) {
  const toggle = () => zoom(scale > 1 ? 0 : 1.25);
  frame.addEventListener("click", toggle);
  frame.addEventListener("keydown", (event) => { if (event.key === "Enter") toggle(); });
}

for (const slider of document.querySelectorAll(".slider input")) {
  slider.addEventListener("input", () => {
    slider.closest(".picture").querySelector(".before").style.setProperty("--cut", `${slider.value}%`);
  });
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.parentElement.nextElementSibling.textContent);
    button.textContent = "Copied";
  });
}

const live = document.body.dataset.live;

async function follow() {
  const answer = await fetch(live);
  if (!answer.ok) return;
  const state = await answer.json();
  for (const place of document.querySelectorAll("[data-read]")) place.textContent = state.read.toLocaleString("en");
  if (state.changed && !document.querySelector("form :focus")) return location.reload();
  setTimeout(follow, FOLLOW_MS);
}

if (live) follow().catch(() => {});
