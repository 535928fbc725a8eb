// What a page must hold for readers with keyboards, screen readers and weak eyes. Checked in the
// page itself: evaluate(audit) gives a list of what is wrong, empty where nothing is.
// Source: WCAG 2.2 (1.1.1, 1.3.1, 1.4.3, 2.4.1, 2.5.8, 4.1.2).
"use strict";

exports.audit = () => {
  const wrong = [];
  const shown = (e) => e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const say = (e) => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") + (typeof e.className === "string" && e.className ? "." + e.className : "") + " '" + (e.textContent || "").trim().slice(0, 30) + "'";
  const byIds = (ids) => ids.split(/\s+/).map((id) => document.getElementById(id)).map((e) => (e ? e.textContent : "")).join(" ").trim();
  const nameOf = (e) => e.getAttribute("aria-labelledby") ? byIds(e.getAttribute("aria-labelledby"))
    : e.getAttribute("aria-label") || (e.labels && e.labels.length ? Array.from(e.labels).map((l) => l.textContent).join(" ") : "") || (/^(A|BUTTON|SUMMARY|H\d|TH)$/.test(e.tagName) ? e.textContent : "");

  // names
  for (const e of document.querySelectorAll("a, button, input, select, textarea, summary, progress, dialog, section, [role=region], [role=img], nav"))
    if (shown(e) && !nameOf(e).trim()) wrong.push("no name: " + say(e));
  for (const e of document.querySelectorAll("svg"))
    if (shown(e) && e.getAttribute("role") !== "img" && e.getAttribute("aria-hidden") !== "true") wrong.push("a picture without a role: " + say(e.parentElement));
  // ids and references
  const ids = new Set();
  for (const e of document.querySelectorAll("[id]")) {
    if (ids.has(e.id)) wrong.push("id twice: " + e.id);
    ids.add(e.id);
  }
  for (const a of ["aria-labelledby", "aria-describedby", "for"])
    for (const e of document.querySelectorAll("[" + a + "]"))
      for (const id of e.getAttribute(a).split(/\s+/)) if (!document.getElementById(id)) wrong.push(a + " names nothing: " + id);
  // structure
  if (!document.documentElement.lang) wrong.push("no language");
  for (const tag of ["main", "h1", "header", "footer"]) if (document.querySelectorAll(tag).length !== 1) wrong.push("not one " + tag);
  let level = 0;
  for (const h of document.querySelectorAll("h1, h2, h3, h4")) {
    if (!shown(h)) continue;
    const l = Number(h.tagName[1]);
    if (l > level + 1) wrong.push("a heading skips a level: " + say(h));
    level = l;
  }
  for (const e of document.querySelectorAll("[tabindex]")) if (e.tabIndex > 0) wrong.push("an order of its own: " + say(e));
  for (const th of document.querySelectorAll("thead th")) if (!th.scope) wrong.push("a column head without scope: " + say(th));
  // what scrolls can be reached
  for (const e of document.querySelectorAll(".scroll, #reader-text")) if (shown(e) && e.tabIndex < 0) wrong.push("cannot be scrolled by keyboard: " + say(e));
  // targets
  for (const e of document.querySelectorAll("button, select, input")) {
    const r = e.getBoundingClientRect();
    if (shown(e) && r.width && (r.height < 23.5 || r.width < 23.5)) wrong.push("a small target, " + Math.round(r.width) + " x " + Math.round(r.height) + ": " + say(e));
  }

  // contrast
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (css) => {
    probe.clearRect(0, 0, 1, 1);
    probe.fillStyle = css;
    probe.fillRect(0, 0, 1, 1);
    const d = probe.getImageData(0, 0, 1, 1).data;
    return [d[0], d[1], d[2], d[3] / 255];
  };
  const over = (top, under) => top.slice(0, 3).map((v, i) => v * top[3] + under[i] * (1 - top[3])).concat(1);
  const luminance = (c) => {
    const [r, g, b] = c.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const behind = (e) => {
    const layers = [];
    for (let p = e; p; p = p.parentElement) {
      const c = rgba(getComputedStyle(p).backgroundColor);
      if (c[3] > 0) layers.push(c);
      if (c[3] === 1) break;
    }
    let c = matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0, 1] : [255, 255, 255, 1];
    for (const l of layers.reverse()) c = over(l, c);
    return c;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || seen.has(e) || !shown(e) || e.closest(".unseen, .skip:not(:focus), title, option")) continue;
    seen.add(e);
    const style = getComputedStyle(e), inSvg = Boolean(e.closest("svg"));
    const bg = behind(e), fg = over(rgba(inSvg ? style.fill : style.color), bg);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const r = ratio(fg, bg);
    if (r < (large ? 3 : 4.5)) wrong.push("contrast " + r.toFixed(2) + ": " + say(e));
  }
  for (const e of document.querySelectorAll("textarea, input")) {
    if (!shown(e) || !e.placeholder) continue;
    const r = ratio(over(rgba(getComputedStyle(e, "::placeholder").color), behind(e)), behind(e));
    if (r < 4.5) wrong.push("contrast of a placeholder " + r.toFixed(2) + ": " + say(e));
  }
  for (const e of document.querySelectorAll(".line, .dot")) { // what a chart says, 3 to 1
    if (!shown(e)) continue;
    const style = getComputedStyle(e), bg = behind(e.closest("figure, td") || e.parentElement);
    const r = ratio(over(rgba(e.matches(".line") ? style.stroke : style.fill), bg), bg);
    if (r < 3) wrong.push("contrast of a line " + r.toFixed(2) + ": " + e.getAttribute("class"));
  }
  return Array.from(new Set(wrong));
};
