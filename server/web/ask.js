// Asking: the answer as it is written, its citations as chips, the source with the passage marked.
import { $, element, call, streamEvents } from "/assets/api.js";
import { messagesBefore, remember, setAside } from "/assets/conversation.js";
import { loadCollections } from "/assets/documents.js";
import { hidePage, showPage } from "/assets/page_image.js";

// Offsets of the API count code points; a JavaScript string counts UTF-16 units.
function cut(text, start, end) {
  const points = Array.from(text);
  return [points.slice(0, start).join(""), points.slice(start, end).join(""), points.slice(end).join("")];
}

// Seconds of a recording as people read them: 12:34, 1:02:03.
function clock(seconds) {
  const s = Math.floor(seconds), two = (n) => String(n).padStart(2, "0");
  return (s >= 3600 ? Math.floor(s / 3600) + ":" + two(Math.floor(s / 60) % 60) : Math.floor(s / 60)) + ":" + two(s % 60);
}

// Where in its document a passage stands: "p. 12", "slide 3", "line 40", "at 12:34", "Budget B2:D9"; "" where it has no such place.
const placeOf = (source) => [source.page ? "p. " + source.page : "", source.slide ? "slide " + source.slide : "",
  source.line ? "line " + source.line : "", source.time ? "at " + clock(source.time[0]) : "",
  [source.sheet, source.range].filter(Boolean).join(" ")].filter(Boolean).join(", ");
const nameOf = (source) => [source.title || source.uri || source.document_id, placeOf(source)].filter(Boolean).join(", ");
let opener = null; // what has the focus back when the reader is closed

async function openSource(collection, source) {
  opener = document.activeElement;
  const doc = await call("/documents/" + encodeURIComponent(source.document_id) +
    "?collection=" + encodeURIComponent(collection));
  const [before, passage, after] = cut(doc.text, source.start, source.end);
  $("reader-title").textContent = doc.title || doc.uri || doc.id;
  $("reader-note").textContent = [doc.uri, placeOf(source), "characters " + source.start + " to " + source.end].filter(Boolean).join(" · ");
  const mark = element("mark", passage);
  $("reader-text").replaceChildren(before, mark, after);
  $("reader").hidden = false;
  mark.scrollIntoView({ block: "center" });
  $("reader-text").focus({ preventScroll: true });
  if (await showPage(collection, source, doc.title || doc.uri || doc.id)) $("reader").scrollIntoView({ block: "nearest" });
}

function closeReader() {
  hidePage();
  $("reader").hidden = true;
  if (opener && opener.isConnected) opener.focus();
  opener = null;
}
$("reader-close").addEventListener("click", closeReader);
$("reader").addEventListener("keydown", (event) => event.key === "Escape" && closeReader());

function opens(button, collection, source) {
  button.type = "button";
  button.addEventListener("click", () => openSource(collection, source).catch(showError));
  return button;
}

// The answer with its markers [n] as chips that open the cited passage. A marker stands right behind
// what it supports; brackets anywhere else are text.
function fillAnswer(collection, answer, citations) {
  const points = Array.from(answer), parts = [];
  let done = 0;
  for (const c of [...citations].sort((a, b) => a.answer_span.end - b.answer_span.end)) {
    const marker = " [" + c.index + "]", at = c.answer_span.end;
    if (at < done || points.slice(at, at + marker.length).join("") !== marker) continue;
    const chip = opens(element("button", String(c.index), c.verified ? "chip verified" : "chip"), collection, c.source);
    chip.title = c.quote;
    chip.setAttribute("aria-label", "Source " + c.index + ": " + nameOf(c.source));
    parts.push(points.slice(done, at + 1).join(""), chip);
    done = at + marker.length;
  }
  parts.push(points.slice(done).join(""));
  $("answer-text").replaceChildren(...parts);
}

const score = (v) => (v === null || v === undefined ? "–" : v.toFixed(3));

function showContexts(collection, contexts) {
  $("contexts").replaceChildren(...contexts.map((c) => {
    const row = element("tr"), cell = element("td");
    cell.append(opens(element("button", nameOf(c), "link"), collection, c));
    row.append(cell);
    const s = c.scores || {};
    for (const v of [c.score, s.dense, s.sparse, s.rerank]) row.append(element("td", score(v), "number"));
    return row;
  }));
  $("evidence").hidden = false;
}

function showTimings(a) {
  const rows = Object.entries(a.timings_ms).filter(([, v]) => v > 0);
  const most = Math.max(...rows.map(([, v]) => v), 0.001);
  $("timings").replaceChildren(...rows.map(([name, v]) => {
    const row = element("tr"), cell = element("td", null, "bar");
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    svg.setAttribute("viewBox", "0 0 100 10");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    for (const [k, x] of Object.entries({ width: Math.max(0.5, 100 * v / most), height: 10, class: "dot s0" })) bar.setAttribute(k, x);
    svg.append(bar);
    cell.append(svg);
    row.append(element("td", name.replace("_", " ")), element("td", v.toFixed(2), "number"), cell);
    return row;
  }));
  const u = a.usage;
  $("usage").textContent = u.prompt_tokens
    ? u.prompt_tokens + " tokens read, " + u.prompt_tokens_details.cached_tokens + " of them kept from before; " + u.completion_tokens + " written" +
      (a.tokens_per_s ? ", " + a.tokens_per_s.toFixed(1) + " a second" : "") + "; first words after " + a.timings.first_visible_ms.toFixed(0) + " ms"
    : "";
}

// How far the documents bear an answer out, in a word; below the service's threshold nothing is answered.
const supportWord = (v) => (v >= 0.85 ? "well supported" : v >= 0.6 ? "supported" : "weakly supported");

function showAnswer(collection, a) {
  fillAnswer(collection, a.answer || "", a.citations);
  if (!a.answer) $("answer-text").textContent = a.status === "no_context"
    ? "Nothing in this collection matches the question."
    : "The documents do not answer this.";
  const made = a.cache.similarity ? "from memory, of a question in other words"
    : a.cache.answer === "hit" ? "from memory"
    : a.answer_source === "generated" ? "written by " + a.model
    : a.answer_source === "none" ? ""
    : a.answer_source;
  const support = a.status === "answered" && typeof a.support === "number" ? supportWord(a.support) : "";
  $("answer-note").textContent = [a.status.replace("_", " "), support, made, a.timings_ms.total.toFixed(2) + " ms"]
    .filter(Boolean).join(" · ");
  const entry = (source, quote, number, verified) => {
    const li = element("li");
    if (number) li.value = number;
    li.append(opens(element("button", nameOf(source), "link"), collection, source));
    if (verified) li.append(" ", element("span", "verified", "note"));
    li.append(element("blockquote", quote));
    return li;
  };
  const items = a.citations.length
    ? a.citations.map((c) => entry(c.source, c.quote, c.index, c.verified))
    : a.contexts.slice(0, 5).map((c) => entry(c, c.text.slice(0, 300) + (c.text.length > 300 ? "…" : "")));
  $("sources-title").textContent = a.citations.length ? "Sources" : "Nearest passages";
  $("sources").replaceChildren(...items);
  showContexts(collection, a.contexts);
  showTimings(a);
}

function showError(e) {
  $("answer-text").replaceChildren(element("span", e.message, "error"));
  $("answer-note").textContent = "";
  $("answer").hidden = false;
}

// Is there nothing to ask about? Looks again: documents may have come in some other way.
async function nothingYet() {
  if ($("nothing-yet").hidden) return false;
  await loadCollections().catch(() => {});
  if ($("nothing-yet").hidden || !$("trouble").hidden) return false;
  $("answer").hidden = $("evidence").hidden = true;
  $("nothing-yet").scrollIntoView({ block: "nearest" });
  return true;
}

async function ask() {
  if (await nothingYet()) return;
  const button = $("ask-form").querySelector("button"), collection = $("collection").value;
  const question = $("question").value, messages = messagesBefore(collection, question);
  const abort = new AbortController();
  setAside();
  $("asked").textContent = question;
  button.disabled = true;
  $("stop").hidden = false;
  $("stop").onclick = () => abort.abort();
  $("reader").hidden = $("evidence").hidden = true;
  for (const id of ["sources", "contexts", "timings", "answer-text"]) $(id).replaceChildren();
  $("answer-text").classList.remove("draft");
  $("answer-note").textContent = "Looking…";
  $("answer").hidden = false;
  $("answer").setAttribute("aria-busy", "true"); // a screen reader waits for the whole
  let answer = "", finished = false;
  const citations = [];
  try {
    await streamEvents("/query", {
      query: question,
      ...(messages.length ? { messages } : {}),
      collection,
      top_k: Number($("top-k").value) || 8,
      search: { mode: $("mode").value },
      stream: true,
    }, abort.signal, (name, data) => {
      if (name === "error") throw new Error(data.error.message);
      if (name === "contexts") {
        showContexts(collection, data.contexts);
        $("answer-note").textContent = "Reading " + data.contexts.length + " passages…";
      }
      if (name === "draft") { // the documents' own words, until the model's take their place
        fillAnswer(collection, data.answer, data.citations);
        $("answer-text").classList.add("draft");
        $("answer-note").textContent = "From the documents; the model is reading…";
      }
      if (name === "token") answer += data.text;
      if (name === "citation") citations.push(data);
      if (name === "token" || name === "citation") fillAnswer(collection, answer, citations);
      if (name === "token" || name === "done") $("answer-text").classList.remove("draft");
      if (name === "done") {
        finished = true;
        showAnswer(collection, data);
        remember(collection, question, data.answer || $("answer-text").textContent);
      }
    });
    if (!finished) throw new Error("The connection ended before the answer did.");
  } catch (e) {
    if (e.name === "AbortError") $("answer-note").textContent = "Stopped.";
    else showError(e);
  } finally {
    $("answer").removeAttribute("aria-busy");
    $("stop").hidden = true;
    button.disabled = false;
  }
}

$("ask-form").addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});
$("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    $("ask-form").requestSubmit();
  }
});
