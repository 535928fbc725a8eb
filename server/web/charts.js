// Lines over time and the map of KV pages, as SVG of our own. Every chart says in words what it
// shows and has its figures as a table below it.
import { element, svg } from "/assets/dom.js";

export function table(t, heads, rows, numbersFrom = heads.length) {
  const head = element("tr"), body = element("tbody"), top = element("thead");
  heads.forEach((h, i) => {
    const th = element("th", h, i >= numbersFrom ? "number" : undefined);
    th.scope = "col";
    head.append(th);
  });
  top.append(head);
  for (const r of rows) {
    const tr = element("tr");
    r.forEach((v, i) => tr.append(element("td", String(v), i >= numbersFrom ? "number" : undefined)));
    body.append(tr);
  }
  if (!rows.length) {
    const td = element("td", "none", "note"), tr = element("tr");
    td.colSpan = heads.length;
    tr.append(td);
    body.append(tr);
  }
  t.replaceChildren(top, body);
  return t;
}

// The next of 1, 2, 5, 10, ... that is no less: where an axis ends.
function roundUp(v) {
  if (!(v > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(v));
  return [1, 2, 5, 10].map((k) => k * unit).find((k) => k >= v * 0.999999);
}

function legend(caption, names) {
  const c = element("figcaption", caption);
  names.forEach((name, i) => {
    const key = element("span", undefined, "key"), box = svg("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" });
    box.append(svg("line", { x1: 0, x2: 26, y1: 5, y2: 5, class: "line s" + i }), svg("circle", { cx: 13, cy: 5, r: 3, class: "dot s" + i }));
    key.append(box, name);
    c.append(key);
  });
  return c;
}

// points: [{t: ms, v: [y or null, one for each name]}], `step` ms apart where nothing is missing.
export function chart(figure, { caption, names, points, from, to, step, top, show, unit = 1 }) {
  const w = Math.min(720, Math.max(300, figure.clientWidth)), h = 180, left = 62, right = 10, bottom = 22; // letters keep their size
  const stamp = (t) => to - from > 36e5 * 30 ? new Date(t).toLocaleDateString() : new Date(t).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const values = points.flatMap((p) => p.v.filter((v) => v !== null));
  const latest = names.map((name, i) => {
    const known = points.filter((p) => p.v[i] !== null);
    return known.length ? name + " " + show(known[known.length - 1].v[i]) : "";
  }).filter(Boolean).join(", ");
  const box = svg("svg", { viewBox: "0 0 " + w + " " + h, role: "img", "aria-label": caption + ". Latest: " + (latest || "nothing yet") });
  if (!values.length) {
    box.append(svg("text", { x: w / 2, y: h / 2, "text-anchor": "middle", class: "axis" }, "nothing in this time"));
    figure.replaceChildren(legend(caption, names), box);
    return;
  }
  const end = top || unit * roundUp(Math.max(...values) / unit);
  const x = (t) => left + (w - left - right) * Math.min(1, Math.max(0, (t - from) / (to - from)));
  const y = (v) => 8 + (h - bottom - 8) * (1 - v / end);
  for (const share of [0, 0.5, 1]) {
    const at = y(end * share);
    box.append(svg("line", { x1: left, x2: w - right, y1: at, y2: at, class: "grid" }));
    box.append(svg("text", { x: left - 6, y: at + 4, "text-anchor": "end", class: "axis" }, show(end * share)));
  }
  for (const share of w < 500 ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1])
    box.append(svg("text", { x: left + (w - left - right) * share, y: h - 4, class: "axis",
      "text-anchor": share === 0 ? "start" : share === 1 ? "end" : "middle" }, stamp(from + (to - from) * share)));
  names.forEach((name, i) => {
    let run = [], last = null;
    const flush = () => {
      if (run.length > 1) box.append(svg("polyline", { class: "line s" + i, points: run.map(([px, py]) => px.toFixed(1) + "," + py.toFixed(1)).join(" ") }));
      run = [];
    };
    for (const p of points) {
      if (p.v[i] === null) continue;
      if (last !== null && p.t - last > step * 1.5) flush();
      last = p.t;
      run.push([x(p.t), y(p.v[i])]);
      const dot = svg("circle", { class: "dot s" + i, cx: x(p.t).toFixed(1), cy: y(p.v[i]).toFixed(1), r: points.length > 80 ? 1.5 : 3 });
      dot.append(svg("title", {}, name + " " + show(p.v[i]) + " at " + new Date(p.t).toLocaleString()));
      box.append(dot);
    }
    flush();
  });
  const details = element("details"), was = figure.querySelector("details");
  details.open = Boolean(was && was.open);
  details.append(element("summary", "Figures"), table(element("table"), ["Time", ...names],
    points.slice(-200).reverse().map((p) => [new Date(p.t).toLocaleString(), ...p.v.map((v) => (v === null ? "–" : show(v)))]), 1));
  figure.replaceChildren(legend(caption, names), box, details);
}

// map: one letter a page, as GET /analytics/kv gives it.
export function pageMap(figure, kv) {
  if (!kv.pages) {
    figure.replaceChildren(element("figcaption", "No language model is loaded, so there are no pages.", "note"));
    return;
  }
  const columns = kv.map.length > 2048 ? 128 : 64, cell = 10, names = { f: "free", c: "kept for reuse", u: "in use", s: "shared" };
  const rows = Math.ceil(kv.map.length / columns);
  const words = kv.pages + " pages of " + kv.page_tokens + " tokens: " + (kv.used - kv.shared) + " in use, " + kv.shared +
    " shared, " + kv.cached + " kept for reuse, " + kv.free + " free";
  const box = svg("svg", { viewBox: "0 0 " + columns * cell + " " + rows * cell, role: "img", "aria-label": words });
  for (let i = 0; i < kv.map.length;) { // one rectangle for a run of like pages in a row
    let n = 1;
    while ((i + n) % columns && kv.map[i + n] === kv.map[i]) n++;
    const r = svg("rect", { x: (i % columns) * cell, y: Math.floor(i / columns) * cell, width: n * cell - 1, height: cell - 1, class: "page-" + kv.map[i] });
    r.append(svg("title", {}, "pages " + i + " to " + (i + n - 1) + ": " + names[kv.map[i]]));
    box.append(r);
    i += n;
  }
  const c = element("figcaption", words + ".");
  for (const [letter, name] of Object.entries(names)) {
    const key = element("span", undefined, "key"), sample = svg("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" });
    sample.append(svg("rect", { x: 8, y: 0, width: 10, height: 10, class: "page-" + letter }));
    key.append(sample, name);
    c.append(key);
  }
  figure.replaceChildren(c, box);
}
