// Turns of a conversation as they are read: the question, the answer with its citations as chips, its sources, what can
// be done with it, and how it came about.
import { put } from "/assets/api.js";
import { clip, copy, count, element, iconButton, svg, tell, words } from "/assets/dom.js";
import { answerAsText, refusalOf } from "/assets/export.js";
import { mark, render } from "/assets/markdown.js";
import { nameOf, openSource } from "/assets/reader.js";

const SHOWN = 3; // sources that are there at once; the others are behind "more"

// How far the documents bear an answer out, in a word; below the service's threshold nothing is answered.
const supportOf = (v) => (v >= 0.85 ? ["well", "well supported"] : v >= 0.6 ? ["ok", "supported"] : ["weak", "weakly supported"]);
const score = (v) => (v === null || v === undefined ? "–" : v.toFixed(3));

// What is kept of a reply: all that is shown again. The passages' text stays in the documents.
export const worthKeeping = (a) => ({
  status: a.status, answer_source: a.answer_source, support: a.support, short_answer: a.short_answer, model: a.model, citations: a.citations,
  refusal: a.refusal, rewritten: a.rewritten, index_incomplete: a.index_incomplete,
  contexts: a.contexts.map((c) => ({ ...c, text: clip(c.text, 300) })),
  usage: a.usage, cache: a.cache, timings_ms: a.timings_ms, timings: a.timings, tokens_per_s: a.tokens_per_s,
});

function opens(button, turn, source, quote) {
  button.type = "button";
  button.addEventListener("click", () => openSource(turn.collection, source, quote).catch((e) => tell(e.message)));
  return button;
}

// ---- the answer ------------------------------------------------------------------------------

export function fillAnswer(view, answer, citations, rich, short) {
  view.answer.replaceChildren(...render(mark(answer, citations, short), (i) => {
    const c = citations[i], chip = opens(element("button", String(c.index), c.verified ? "chip verified" : "chip"), view.turn, c.source, c.quote);
    chip.title = c.quote;
    chip.setAttribute("aria-label", "Source " + c.index + ": " + nameOf(c.source));
    return chip;
  }, rich));
}

function origin(a) {
  if (a.cache && a.cache.similarity) return "from memory, of a question in other words";
  if (a.cache && a.cache.answer === "hit") return "from memory";
  if (a.answer_source === "generated") return "written by " + a.model;
  return a.answer_source === "extractive" ? "in the documents' words" : "";
}

// What was looked for, where the question leant on those before it.
function fillAsked(view, a) {
  view.asked.hidden = !a.rewritten;
  view.asked.replaceChildren(...(a.rewritten ? ["Asked as: ", words(element("span", a.rewritten.query))] : []));
}

function fillNote(view, a) {
  const parts = [];
  if (a.status === "answered" && typeof a.support === "number") {
    const [kind, word] = supportOf(a.support);
    parts.push(element("span", word, "support " + kind));
  } else if (a.status) parts.push(element("span", a.status === "answered" ? "answered" : "not answered", "support " + (a.status === "answered" ? "ok" : "none")));
  for (const s of [origin(a), a.timings_ms ? a.timings_ms.total.toFixed(0) + " ms" : ""]) if (s) parts.push(element("span", s));
  view.note.replaceChildren(...parts);
}

// ---- sources ---------------------------------------------------------------------------------

function fillSources(view, a) {
  const cited = a.citations && a.citations.length > 0;
  const list = element("ol", null, "sources"), all = cited ? a.citations : (a.contexts || []).slice(0, 5);
  for (const [i, c] of all.entries()) {
    const source = cited ? c.source : c, quote = cited ? c.quote : c.text, li = element("li"), open = opens(element("button", null, "source"), view.turn, source, quote);
    if (cited) open.append(element("span", String(c.index), "number"));
    open.append(words(element("span", nameOf(source), "name")));
    if (cited && c.verified) open.append(element("span", "verified", "tag"));
    open.append(words(element("span", quote, "quote")));
    li.append(open);
    li.hidden = i >= SHOWN;
    list.append(li);
  }
  view.sources.replaceChildren();
  if (!all.length) return;
  view.sources.append(element("h4", cited ? "Sources" : "Nearest passages", "label"), list);
  if (all.length > SHOWN) {
    const more = element("button", "Show " + (all.length - SHOWN) + " more", "link");
    more.type = "button";
    more.addEventListener("click", () => {
      const hidden = [...list.children].filter((li) => li.hidden);
      hidden.forEach((li) => { li.hidden = false; });
      hidden[0].querySelector("button").focus();
      more.remove();
    });
    view.sources.append(more);
  }
}

// ---- how it came about -----------------------------------------------------------------------

function contextsTable(view, contexts) {
  const box = element("div", null, "scroll"), t = element("table"), head = element("tr"), top = element("thead"), body = element("tbody", null, "contexts");
  for (const h of ["Passage", "Fused", "Dense", "Sparse", "Rerank"]) {
    const th = element("th", h, h === "Passage" ? "" : "number");
    th.scope = "col";
    head.append(th);
  }
  top.append(head);
  for (const c of contexts) {
    const row = element("tr"), cell = element("td"), s = c.scores || {};
    cell.append(opens(words(element("button", nameOf(c), "link")), view.turn, c, c.text));
    row.append(cell);
    for (const v of [c.score, s.dense, s.sparse, s.rerank]) row.append(element("td", score(v), "number"));
    body.append(row);
  }
  t.append(top, body);
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Passages by score");
  box.append(t);
  return box;
}

function timingsTable(a) {
  const t = element("table", null, "timings"), body = element("tbody");
  const rows = Object.entries(a.timings_ms || {}).filter(([, v]) => v > 0), most = Math.max(...rows.map(([, v]) => v), 0.001);
  for (const [name, v] of rows) {
    const row = element("tr"), cell = element("td", null, "bar"), box = svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
    box.append(svg("rect", { width: Math.max(0.5, 100 * v / most), height: 10, class: "dot s0" }));
    cell.append(box);
    row.append(element("td", name.replace("_", " ")), element("td", v.toFixed(2) + " ms", "number"), cell);
    body.append(row);
  }
  t.setAttribute("aria-label", "Time by stage");
  t.append(body);
  return t;
}

function fillHow(view, a) {
  const inner = [contextsTable(view, a.contexts || [])];
  if (a.timings_ms) inner.push(element("h4", "Time by stage", "label"), timingsTable(a));
  const u = a.usage;
  if (u && u.prompt_tokens)
    inner.push(element("p", u.prompt_tokens + " tokens read, " + u.prompt_tokens_details.cached_tokens + " of them kept from before; " + u.completion_tokens + " written" +
      (a.tokens_per_s ? ", " + a.tokens_per_s.toFixed(1) + " a second" : "") + (a.timings ? "; first words after " + a.timings.first_visible_ms.toFixed(0) + " ms" : ""), "note usage"));
  view.how.replaceChildren(element("summary", "How this was found: " + count((a.contexts || []).length, "passage") + " read"), ...inner);
  view.how.hidden = false;
}

// ---- what can be done with it ----------------------------------------------------------------

function thumb(view, rating, label) {
  const b = iconButton(rating, label);
  b.setAttribute("aria-pressed", String(view.turn.rating === rating));
  b.addEventListener("click", async () => {
    const now = view.turn.rating === rating ? null : rating;
    try {
      await put("POST", "/feedback", { query: view.turn.question, collection: view.turn.collection, rating: now || "none",
        documents: [...new Set((view.turn.reply.citations || []).map((c) => c.source.document_id))].slice(0, 64) });
    } catch (e) {
      tell(e.message);
      return;
    }
    view.turn.rating = now;
    for (const [k, t] of Object.entries(view.thumbs)) t.setAttribute("aria-pressed", String(now === k));
    tell(now ? "Thank you: that is kept." : "Taken back.");
  });
  return b;
}

function fillActions(view, a, { again, own }) {
  const copying = iconButton("copy", "Copy the answer with its sources");
  copying.addEventListener("click", async () => {
    await copy(answerAsText(view.turn)).then(() => tell("Copied, with its sources."), (e) => tell(e.message));
  });
  const acts = [copying];
  if (again) {
    const b = iconButton("again", "Ask again");
    b.addEventListener("click", again);
    acts.push(b);
  }
  if (own && a.status) {
    view.thumbs = { up: thumb(view, "up", "A good answer"), down: thumb(view, "down", "A bad answer") };
    acts.push(view.thumbs.up, view.thumbs.down);
  }
  view.acts.replaceChildren(...acts);
}

// ---- a turn ----------------------------------------------------------------------------------

// The nodes of a turn, empty but for its question.
export function turnView(turn) {
  const li = element("li", null, "turn"), answer = element("div", null, "answer");
  const view = { turn, li, answer, note: element("p", null, "note"), acts: element("div", null, "acts"), unkept: element("p", null, "unkept"), asked: element("p", null, "asked"), sources: element("div", null, "evidence"), how: element("details", null, "how") };
  answer.setAttribute("role", "group");
  answer.setAttribute("aria-label", "Answer");
  answer.setAttribute("aria-live", "polite");
  view.how.hidden = true;
  view.unkept.hidden = view.asked.hidden = true;
  view.unkept.setAttribute("role", "status");
  const foot = element("div", null, "foot");
  foot.append(view.note, view.acts);
  const heading = words(element("h3", turn.question, "question"));
  heading.tabIndex = -1;
  li.append(heading, view.asked, answer, foot, view.unkept, view.sources, view.how);
  return view;
}

// The whole reply. again: asks once more, where that makes sense; own false: a conversation of somebody else.
export function fillTurn(view, { again = null, own = true } = {}) {
  const a = view.turn.reply;
  if (view.turn.answer) fillAnswer(view, view.turn.answer, a.citations || [], a.answer_source === "generated", a.short_answer);
  else view.answer.replaceChildren(words(element("p", refusalOf(a), "muted")));
  if (a.index_incomplete) view.answer.append(element("p", "A part of the index is being made again: documents may be missing from this answer. Ask again in a moment.", "note"));
  fillAsked(view, a);
  fillNote(view, a);
  fillSources(view, a);
  fillHow(view, a);
  fillActions(view, a, { again, own });
}

// Contexts are there before the answer is.
export function fillContexts(view, contexts) {
  fillHow(view, { contexts });
}

// Why the service does not have this turn; "": it does. Here it can be read on a narrow screen too.
export function fillUnkept(view, why) {
  view.unkept.hidden = !why;
  view.unkept.textContent = why && "This is not kept: " + why;
}

// Why there is no answer, and the button that tries again.
export function fillFailure(view, e, again) {
  const busy = e.status === 429 || e.status === 503;
  view.answer.replaceChildren(element("p", e.message, "error"));
  view.note.textContent = busy ? "The service is busy." + (e.wait ? " It asks to be tried again in " + count(e.wait, "second") + "." : "")
    : e.status === 403 ? "Refused: what this key may do is listed under Settings." : "";
  const b = element("button", "Try again", "quiet");
  b.type = "button";
  b.addEventListener("click", again);
  view.acts.replaceChildren(b);
}
