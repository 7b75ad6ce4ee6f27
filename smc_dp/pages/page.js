"use strict";
// A walk shows one step at a time. Without this script, and on paper, all steps are there.
for (const walk of document.querySelectorAll(".steps")) {
  const steps = [...walk.querySelectorAll(":scope > .step")];
  const bar = walk.querySelector(":scope > .walk");
  const [first, back, on, last] = bar.querySelectorAll("button");
  const chosen = bar.querySelector("select");
  const position = bar.querySelector(".position");
  let at = 0;
  function show(to, focus) {
    at = Math.max(0, Math.min(steps.length - 1, to));
    steps.forEach((step, i) => step.classList.toggle("away", i !== at));
    first.disabled = back.disabled = at === 0;
    on.disabled = last.disabled = at === steps.length - 1;
    chosen.selectedIndex = at;
    position.textContent = `${at + 1} / ${steps.length}`;
    if (focus) steps[at].querySelector(".step-heading").focus();
  }
  first.addEventListener("click", () => show(0, true));
  back.addEventListener("click", () => show(at - 1, true));
  on.addEventListener("click", () => show(at + 1, true));
  last.addEventListener("click", () => show(steps.length - 1, true));
  chosen.addEventListener("change", () => show(chosen.selectedIndex, false));
  document.addEventListener("keydown", (event) => {
    const there = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: steps.length - 1 }[event.key];
    const scrolls = event.target.closest?.(".scroll, .drawing, pre, select");
    const elsewhere = event.target !== document.body && !walk.contains(event.target);
    if (there === undefined || event.ctrlKey || event.altKey || event.metaKey || elsewhere) return;
    if (scrolls && (scrolls.tagName === "SELECT" || scrolls.scrollWidth > scrolls.clientWidth)) return;
    event.preventDefault();
    show(there, true);
  });
  walk.classList.add("walking");
  bar.hidden = false;
  show(0, false);
}
