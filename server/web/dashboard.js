"use strict";
// The dashboard: what the caches did, as lines of our own in SVG, and which questions stand out.
const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes, text) {
  const e = document.createElementNS(SVG, tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
}

// points: [{t: ms, answer: y, retrieval: y}]; y from 0 to top.
function chart(id, points, top, label, show) {
  const w = 640, h = 160, left = 58, bottom = 20;
  const box = svg("svg", { viewBox: "0 0 " + w + " " + h, role: "img", "aria-label": label });
  if (!points.length) {
    box.append(svg("text", { x: w / 2, y: h / 2, "text-anchor": "middle", class: "axis" }, "no queries in this time"));
    document.getElementById(id).replaceChildren(box);
    return;
  }
  const first = points[0].t, span = Math.max(1, points[points.length - 1].t - first);
  const x = (t) => (points.length === 1 ? (left + w) / 2 : left + (w - left - 8) * (t - first) / span);
  const y = (v) => 8 + (h - bottom - 8) * (1 - v / (top || 1));
  for (const share of [0, 0.5, 1]) {
    const at = y(top * share);
    box.append(svg("line", { x1: left, x2: w, y1: at, y2: at, class: "grid" }));
    box.append(svg("text", { x: left - 6, y: at + 4, "text-anchor": "end", class: "axis" }, show(top * share)));
  }
  for (const layer of ["retrieval", "answer"]) {
    const known = points.filter((p) => p[layer] !== null);
    box.append(svg("polyline", { class: "line " + layer, points: known.map((p) => x(p.t).toFixed(1) + "," + y(p[layer]).toFixed(1)).join(" ") }));
    for (const p of known) {
      const dot = svg("circle", { class: "dot " + layer, cx: x(p.t), cy: y(p[layer]), r: 3 });
      dot.append(svg("title", {}, layer + " " + show(p[layer]) + " at " + new Date(p.t).toLocaleString()));
      box.append(dot);
    }
  }
  const ends = [[left, "start", first], [w - 8, "end", first + span]];
  for (const [at, anchor, t] of ends) box.append(svg("text", { x: at, y: h - 4, "text-anchor": anchor, class: "axis" }, new Date(t).toLocaleString()));
  document.getElementById(id).replaceChildren(box);
}

function table(id, heads, rows) {
  const t = document.getElementById(id), head = element("tr"), body = element("tbody"), top = element("thead");
  for (const h of heads) {
    const th = element("th", h);
    th.scope = "col";
    head.append(th);
  }
  top.append(head);
  for (const r of rows) {
    const tr = element("tr");
    for (const v of r) tr.append(element("td", String(v)));
    body.append(tr);
  }
  if (!rows.length) {
    const td = element("td", "none", "note");
    td.colSpan = heads.length;
    const tr = element("tr");
    tr.append(td);
    body.append(tr);
  }
  t.replaceChildren(top, body);
}

async function loadDashboard() {
  const [span, step] = $("window").value.split(" ");
  const list = (order) => call("/analytics/queries?limit=10&order=" + order + "&window=" + span);
  const [cache, stats, hot, slow, unanswered] = await Promise.all([
    call("/analytics/cache?window=" + span + "&step=" + step), call("/stats"), list("hot"), list("slow"), list("unanswered")]);
  const percent = (v) => (100 * v).toFixed(1) + " %", mib = (v) => (v / 1048576).toFixed(1) + " MiB";
  const a = cache.totals.answer, r = cache.totals.retrieval;
  const figures = [
    ["Answer hits", percent(a.hit_ratio) + " of " + a.lookups],
    ["Retrieval hits", percent(r.hit_ratio) + " of " + r.lookups],
    ["Time saved", ((a.saved_ms + r.saved_ms) / 1000).toFixed(2) + " s"],
    ["Tokens saved", String(a.saved_tokens)],
    ["Memory kept", mib(a.bytes + r.bytes)],
    ["Documents", String(stats.documents)],
    ["Index", mib(stats.index_file_bytes + stats.index_memory_bytes)],
    ["Database", mib(stats.database_bytes)]];
  $("figures").replaceChildren(...figures.map(([k, v]) => {
    const d = element("div");
    d.append(element("dt", k), element("dd", v));
    return d;
  }));
  const points = (field) => cache.series.map((s) => {
    const of = (l) => (l.lookups ? l[field] : null);
    return { t: Date.parse(s.t), answer: of(s.answer), retrieval: of(s.retrieval) };
  });
  chart("chart-ratio", points("hit_ratio"), 1, "Hit ratio of answers and retrieval over time", percent);
  const saved = points("saved_ms");
  chart("chart-saved", saved, Math.max(1, ...saved.flatMap((p) => [p.answer || 0, p.retrieval || 0])), "Milliseconds saved over time", (v) => v.toFixed(v < 10 ? 1 : 0));
  const text = (q) => (q.query === null ? "(not logged)" : q.query);
  table("hot", ["Question", "Collection", "Asked", "Estimate", "Hits"], hot.data.map((q) => [text(q), q.collection, q.count, q.estimate, q.cache_hits]));
  table("slow", ["Question", "Collection", "Mean ms", "Worst ms"], slow.data.map((q) => [text(q), q.collection, q.mean_ms.toFixed(2), q.max_ms.toFixed(2)]));
  table("unanswered", ["Question", "Collection", "Times", "Last"], unanswered.data.map((q) => [text(q), q.collection, q.unanswered, new Date(q.last).toLocaleString()]));
}

let refresh = 0;
document.addEventListener("view", (event) => {
  clearInterval(refresh);
  if (event.detail !== "dashboard") return;
  const load = () => loadDashboard().catch((e) => { $("status").textContent = e.message; });
  load();
  refresh = setInterval(load, 10000);
});
$("window").addEventListener("change", () => loadDashboard().catch((e) => { $("status").textContent = e.message; }));
