// What a browser is asked about a page that it shows: an object of questions.
({
  tooWide: () => document.documentElement.scrollWidth > document.documentElement.clientWidth,

  // On paper nothing scrolls: what is wider than its box is lost.
  cut: () => [...document.querySelectorAll("body *")].some((e) => getComputedStyle(e).display !== "none"
    && e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== "visible"),

  smallestLetter: () => {
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), sizes = [99];
    while (walk.nextNode()) {
      const e = walk.currentNode.parentElement;
      if (walk.currentNode.data.trim() && !e.closest("svg") && e.getClientRects().length)
        sizes.push(parseFloat(getComputedStyle(e).fontSize));
    }
    return Math.min(...sizes);
  },

  // As large as it is shown: a picture may have been made small for a narrow screen.
  smallestDrawnLetter: () => Math.min(99, ...[...document.querySelectorAll("svg text")]
    .filter((e) => e.getClientRects().length)
    .map((e) => parseFloat(getComputedStyle(e).fontSize) * Math.abs(e.getScreenCTM().a))),

  focusable: () => [...document.querySelectorAll("*")]
    .filter((e) => e.tabIndex >= 0 && e.getClientRects().length && !e.disabled
      && getComputedStyle(e).visibility !== "hidden")
    .map((e, i) => { e.dataset.walked = i; return i; }),

  focused: () => {
    const e = document.activeElement, style = getComputedStyle(e);
    const named = e.getAttribute("aria-label") || document.getElementById(e.getAttribute("aria-labelledby"))?.textContent
      || (e.matches("button, a, summary, input") ? e.textContent : "");
    return {
      number: e.dataset.walked === undefined ? -1 : +e.dataset.walked,
      shown: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
      named: named.trim() !== "",
    };
  },

  // What is alike but for its colour, and whose colours are nearly one grey, says something by colour alone.
  byColourAlone: ([hues, greys]) => {
    const parts = (colour) => (colour.match(/[\d.]+/g) || []).map(Number);
    const seen = (colour) => parts(colour).length >= 3 && parts(colour)[3] !== 0;
    const grey = (colour) => { const [r, g, b] = parts(colour); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const hue = (c, d) => Math.max(...[0, 1, 2].map((i) => Math.abs(parts(c)[i] - parts(d)[i])));
    const met = new Map();
    for (const e of document.querySelectorAll("body *")) {
      const s = getComputedStyle(e), drawn = e instanceof SVGGeometryElement;
      const written = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
      if (!e.getClientRects().length || !(drawn || written)) continue;
      const form = drawn ? [s.strokeDasharray, s.strokeWidth] : [e.textContent.trim(), s.fontWeight, s.fontStyle];
      const alike = [e.tagName, ...form, s.textDecorationLine, s.borderStyle].join("|");
      for (const [part, colour] of [["line", drawn ? s.stroke : s.color], ["fill", drawn ? s.fill : s.backgroundColor]]) {
        if (!seen(colour) || colour.includes("url")) continue;
        const others = met.get(alike + part) || new Set();
        for (const other of others)
          if (hue(colour, other) > hues && Math.abs(grey(colour) - grey(other)) < greys) return true;
        met.set(alike + part, others.add(colour));
      }
    }
    return false;
  },

  step: () => {
    const all = [...document.querySelectorAll(".step")], shown = all.filter((e) => e.getClientRects().length);
    const heading = shown[0].querySelector(".step-heading");
    return {
      all: all.length, shown: shown.length, at: all.indexOf(shown[0]), heading: heading.textContent.trim(),
      focus: document.activeElement === heading, said: document.querySelector("[role=status]").textContent,
    };
  },
})
