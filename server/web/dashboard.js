// The dashboard: what the caches did, how long queries took, what is in memory, which questions
// stand out. It looks again every ten seconds while it is in sight.
import { call, text } from "/assets/api.js";
import { chart, pageMap, table } from "/assets/charts.js";
import { $, download, element, tell } from "/assets/dom.js";
import { session } from "/assets/settings.js";

const LAYERS = { answer: "answers", retrieval: "retrieval", kv_prefix: "KV prefix", kv_chunk: "KV chunk", kv_disk: "KV disk" };
const MEMORY = { resident: "process", index: "index", answer: "answers kept", retrieval: "contexts kept", kv: "KV pages" };
const UNITS = { m: 60e3, h: 36e5, d: 864e5 };
const span = (s) => parseInt(s, 10) * UNITS[s.slice(-1)];
const percent = (v) => (100 * v).toFixed(v === 0 || v === 1 ? 0 : 1) + " %";
const bytes = (v) => (v >= 1 << 30 ? (v / (1 << 30)).toFixed(1) + " GiB" : v >= 1 << 20 ? (v / (1 << 20)).toFixed(1) + " MiB" : (v / 1024).toFixed(0) + " KiB");
const ms = (v) => (v >= 10000 ? (v / 1000).toFixed(1) + " s" : v.toFixed(v >= 100 ? 0 : v >= 1 ? 1 : 2) + " ms");
const count = (v) => (v >= 1e6 ? (v / 1e6).toFixed(1) + " M" : v >= 1e4 ? (v / 1e3).toFixed(1) + " k" : String(Math.round(10 * v) / 10));

function showFigures(cache, stats, latency) {
  const totals = Object.values(cache.totals), sum = (field) => totals.reduce((n, l) => n + l[field], 0);
  const all = latency.totals.total;
  const figures = [
    ["Queries", all ? count(all.count) : "0"],
    ["Half of them within", all ? ms(all.p50_ms) : "–"],
    ["95 % within", all ? ms(all.p95_ms) : "–"],
    ["Answer hits", percent(cache.totals.answer.hit_ratio) + " of " + cache.totals.answer.lookups],
    ["Time saved", ms(sum("saved_ms"))],
    ["Tokens saved", count(sum("saved_tokens"))],
    ...(stats ? [["Memory", bytes(stats.resident_bytes)],
    ["Documents", count(stats.documents)],
    ["Index", bytes(stats.index_file_bytes + stats.index_memory_bytes)],
    ["Database", bytes(stats.database_bytes)]] : [])];
  const g = stats && stats.generator;
  if (g) figures.push(["Language model", "running" in g ? g.running + " running, " + g.waiting + " waiting" : g.name]);
  $("figures").replaceChildren(...figures.map(([k, v]) => {
    const d = element("div");
    d.append(element("dt", k), element("dd", v));
    return d;
  }));
}

function showCaches(cache, time) {
  const layers = Object.keys(LAYERS), names = Object.values(LAYERS);
  const points = (of) => cache.series.map((s) => ({ t: Date.parse(s.t), v: layers.map((l) => (s[l] && s[l].lookups ? of(s[l]) : null)) }));
  chart($("chart-ratio"), { ...time, caption: "Hit ratio", names, points: points((l) => l.hit_ratio), top: 1, show: percent });
  chart($("chart-saved"), { ...time, caption: "Time saved", names, points: points((l) => l.saved_ms), show: ms });
  chart($("chart-tokens"), { ...time, caption: "Tokens saved", names, points: points((l) => l.saved_tokens), show: count });
  table($("layers"), ["Layer", "Look-ups", "Hits", "Hit ratio", "Time saved", "Tokens saved", "Held", "Evicted"],
    layers.map((l) => {
      const t = cache.totals[l];
      return [LAYERS[l], t.lookups, t.hits, percent(t.hit_ratio), ms(t.saved_ms), count(t.saved_tokens), t.bytes ? bytes(t.bytes) : "–", t.evictions];
    }), 1);
}

function showLatency(latency, time) {
  const stages = Object.keys(latency.totals), select = $("stage");
  const wanted = select.value || "total";
  select.replaceChildren(...(stages.length ? stages : ["total"]).map((s) => {
    const o = element("option", s.replace("_", " "));
    o.value = s;
    return o;
  }));
  select.value = stages.includes(wanted) ? wanted : "total";
  const stage = select.value;
  const points = latency.series.map((s) => ({ t: Date.parse(s.t), v: s[stage] ? [s[stage].p50_ms, s[stage].p95_ms, s[stage].p99_ms] : [null, null, null] }));
  chart($("chart-latency"), { ...time, caption: "Time of a query, stage " + stage.replace("_", " "), names: ["p50", "p95", "p99"], points, show: ms });
  table($("stages"), ["Stage", "Queries", "Mean", "p50", "p95", "p99"], stages.map((s) => {
    const t = latency.totals[s];
    return [s.replace("_", " "), t.count, ms(t.mean_ms), ms(t.p50_ms), ms(t.p95_ms), ms(t.p99_ms)];
  }), 1);
}

function showMemory(memory, kv, time) {
  const points = memory.series.map((s) => ({ t: Date.parse(s.t), v: Object.keys(MEMORY).map((m) => s[m]) }));
  chart($("chart-memory"), { ...time, caption: "Memory since the start, a day at most", names: Object.values(MEMORY), points, show: bytes, unit: 1 << 20 });
  pageMap($("kv-map"), kv);
}

function showQueries(hot, slow, unanswered) {
  const asked = (q) => (q.query === null ? "(not logged)" : q.query);
  table($("hot"), ["Question", "Collection", "Asked", "Estimate", "Hits"], hot.map((q) => [asked(q), q.collection, q.count, q.estimate, q.cache_hits]), 2);
  table($("slow"), ["Question", "Collection", "Mean", "Worst"], slow.map((q) => [asked(q), q.collection, ms(q.mean_ms), ms(q.max_ms)]), 2);
  table($("unanswered"), ["Question", "Collection", "Times", "Last"], unanswered.map((q) => [asked(q), q.collection, q.unanswered, new Date(q.last).toLocaleString()]), 2);
}

function showFeedback(f) {
  $("feedback-note").textContent = f.up || f.down ? f.up + " good, " + f.down + " bad. Both files together are what forage eval takes." : "Nobody said anything yet: each answer has two buttons for it.";
  $("feedback-queries").disabled = $("feedback-qrels").disabled = !f.data.length;
  table($("feedback"), ["Question", "Collection", "Said", "When"], f.data.slice(0, 20).map((d) => [d.query, d.collection, d.rating === "up" ? "good" : "bad", new Date(d.at).toLocaleString()]));
}

for (const [id, format, name] of [["feedback-queries", "queries", "queries.jsonl"], ["feedback-qrels", "qrels", "qrels.tsv"]])
  $(id).addEventListener("click", () => text("/analytics/feedback?format=" + format).then((t) => download(name, t, "text/plain"), (e) => tell(e.message)));

let latest = 0; // a slow reply must not cover a later one

// What the key may not see is left out, with its heading.
async function load() {
  const mine = ++latest, { admin, metrics } = session.may;
  const [window, step] = $("window").value.split(" "), over = "?window=" + window + "&step=" + step;
  const list = (order) => (admin ? call("/analytics/queries?limit=10&order=" + order + "&window=" + window) : null);
  for (const [id, may] of [["memory-title", metrics], ["hot-title", admin], ["slow-title", admin], ["unanswered-title", admin], ["feedback-title", admin]])
    $(id).closest("section").hidden = !may;
  const [cache, latency, memory, kv, stats, hot, slow, unanswered, feedback] = await Promise.all([
    call("/analytics/cache" + over), call("/analytics/latency" + over), metrics && call("/analytics/memory" + over),
    metrics && call("/analytics/kv"), metrics && call("/stats"), list("hot"), list("slow"), list("unanswered"),
    admin && call("/analytics/feedback?window=" + window)]);
  if (mine !== latest) return;
  const to = Date.now(), time = { from: to - span(window), to, step: span(step) };
  showFigures(cache, stats, latency);
  showCaches(cache, time);
  showLatency(latency, time);
  if (metrics) showMemory(memory, kv, time);
  if (admin) showQueries(hot.data, slow.data, unanswered.data);
  if (admin) showFeedback(feedback);
}

let timer = 0;
let loaded = null; // when the figures in sight were
const reload = () => load().then(() => {
  loaded = new Date();
  $("dashboard-note").hidden = true;
}, (e) => {
  if (e.status === 401) clearInterval(timer); // once there is a key, the view is shown anew
  const away = !$("trouble").hidden; // said above
  $("dashboard-note").textContent = (away ? "" : e.message + " ") + (loaded ? "These figures are those of " + loaded.toLocaleTimeString() + "." : "");
  $("dashboard-note").hidden = !$("dashboard-note").textContent;
});

export function showDashboard(visible) {
  clearInterval(timer);
  if (!visible) return;
  timer = setInterval(() => document.hidden || reload(), 10000);
  reload();
}
for (const id of ["window", "stage"]) $(id).addEventListener("change", reload);
