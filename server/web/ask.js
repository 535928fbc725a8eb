// Asking: the conversation in sight, what is written into it as it comes, and that it is kept.
import { call, streamEvents } from "/assets/api.js";
import { closeReader } from "/assets/reader.js";
import { currentCollection } from "/assets/collections.js";
import { chooseAnother, chooseThisOne, isCopied, keepTurn } from "/assets/conversations.js";
import { $, clip, count, tell } from "/assets/dom.js";
import { fillAnswer, fillContexts, fillFailure, fillTurn, fillUnkept, turnView, worthKeeping } from "/assets/thread.js";
import { suggest } from "/assets/welcome.js";

const SENT = 32, LONGEST = 2000; // turns, and characters of each, that go with a question

// id null: nothing is kept of it yet. own false: somebody else's, shared. stored: how many turns the service has; unsent:
// the first one that it has not as it is here, null where there is none.
const empty = () => ({ id: null, title: "", shared: false, own: true, turns: [], stored: 0, unsent: null });
export let conversation = empty();
let views = []; // of its turns
let asking = null; // what aborts the question that runs
let unasked = null; // the last one, where it did not reach a service that is away: what asks it again, once it is back

// Earlier turns as the API's messages.
function messagesBefore(turns, collection) {
  return turns.filter((t) => t.collection === collection).slice(-SENT)
    .flatMap((t) => [{ role: "user", content: clip(t.question, LONGEST) },
      { role: "assistant", content: clip(t.answer, LONGEST) || "The documents do not answer this." }]);
}

// ---- what is in sight ------------------------------------------------------------------------

export function showHead() {
  const c = conversation;
  $("ask-title").textContent = c.title || (c.turns.length ? c.turns[0].question : "New conversation");
  $("conversation-actions").hidden = !c.id || !c.own;
  $("theirs").hidden = c.own;
  $("adopt").disabled = isCopied(c);
  $("ask-form").hidden = !c.own;
  const any = views.length > 0;
  $("thread").hidden = !any;
  $("welcome").hidden = any || !$("nothing-yet").hidden;
  $("view-ask").classList.toggle("fresh", !any);
  if (!$("view-ask").hidden) document.title = (c.id ? $("ask-title").textContent + " · " : "") + "Forage";
}

// Only the last turn can be asked again: those behind it were said in its light.
function fillLast() {
  const had = document.activeElement, at = views.findIndex((v) => v.acts.contains(had));
  views.forEach((v, i) => v.turn.reply && fillTurn(v, { own: conversation.own, again: conversation.own && i === views.length - 1 ? () => ask(v.turn.question, i) : null }));
  if (at >= 0 && !had.isConnected) headingOf(views[at]).focus({ preventScroll: true });
}

// Of its question: there goes the focus where what had it is gone. A field would bring a phone's keyboard over the answer.
const headingOf = (view) => view.li.querySelector("h3");

function show(c) {
  asking?.abort();
  closeReader();
  conversation = c || empty();
  conversation.stored ??= conversation.turns.length;
  views = conversation.turns.map(turnView);
  $("thread").replaceChildren(...views.map((v) => v.li));
  fillLast();
  const last = conversation.turns[conversation.turns.length - 1];
  if (last && [...$("collection").options].some((o) => o.value === last.collection)) $("collection").value = last.collection;
  showHead();
  if (!c) suggest($("collection").value, (q) => ask(q));
  else $("main").scrollTop = $("main").scrollHeight;
}

export function showConversation(c) {
  chooseAnother();
  show(c);
}

// What stands there before anything is asked, not even in vain, as it is by now. A conversation on its way comes all the same,
// and one that is kept without turns stays, to be renamed or deleted.
export function showFresh() {
  if (!views.length && !asking && !conversation.id) show(null);
}

// ---- asking ----------------------------------------------------------------------------------

function busy(now) {
  if (!now && document.activeElement === $("stop")) $("question").focus();
  $("stop").hidden = !now;
  $("ask-form").querySelector("[type=submit]").hidden = Boolean(now);
  asking = now;
}

async function stream(view, messages, again, signal) {
  let answer = "", finished = null;
  const citations = [];
  await streamEvents("/query", {
    query: view.turn.question,
    ...(messages.length ? { messages } : {}),
    collection: view.turn.collection,
    top_k: Number($("top-k").value) || 8,
    search: { mode: $("mode").value },
    short_answer: true,
    today: new Date(Date.now() - new Date().getTimezoneOffset() * 60000).toISOString().slice(0, 10),
    ...(again ? { cache: "refresh" } : {}),
    stream: true,
  }, signal, (name, data) => {
    if (name === "waits") view.note.textContent = "Few requests a second are let in. Waiting…";
    if (name === "error") throw new Error(data.error.message);
    if (name === "contexts") {
      fillContexts(view, data.contexts);
      view.note.textContent = "Reading " + count(data.contexts.length, "passage") + "…";
    }
    if (name === "draft") { // the documents' own words, until the model's take their place
      fillAnswer(view, data.answer, data.citations, false);
      view.answer.classList.add("draft");
      view.note.textContent = "From the documents; the model is reading…";
    }
    if (name === "token") answer += data.text;
    if (name === "citation") citations.push(data);
    if (name === "token" || name === "citation") fillAnswer(view, answer, citations, true);
    if (name === "token" || name === "done") view.answer.classList.remove("draft");
    if (name === "done") finished = data;
    if (!$("view-ask").hidden && Math.abs($("main").scrollHeight - $("main").scrollTop - $("main").clientHeight) < 160) $("main").scrollTop = $("main").scrollHeight;
  });
  if (!finished) throw new Error("The connection ended before the answer did.");
  return finished;
}

// What came of keeping the last turn. Where another tab has gone on meanwhile, its turns come into sight.
function showKeeping(of, unkept) {
  if (conversation !== of) return;
  if (views.length !== of.turns.length) show(of);
  showHead();
  if (unkept) fillUnkept(views[views.length - 1], unkept);
  else if (of.unsent === null) views.forEach((v) => fillUnkept(v, ""));
}

function putBack(view, at) {
  const had = views[at].li.contains(document.activeElement);
  views[at].li.replaceWith(view.li);
  if (had) headingOf(view).focus({ preventScroll: true });
  views[at] = view;
}

// at: the turn that is asked again (the last one), or none.
export async function ask(question, at = conversation.turns.length) {
  if (asking) return;
  if (await nothingYet()) {
    $("nothing-yet").scrollIntoView({ block: "center" }); // above a long conversation it is out of sight
    tell("There are no documents yet. Add some under Documents, then ask again.");
    return;
  }
  if (asking) return; // once is enough, however often it was pressed meanwhile
  const first = unasked?.question !== question; // one that the service ends at, each time, is not asked by itself for ever
  unasked = null;
  const of = conversation, abort = new AbortController(), again = at < of.turns.length, old = views[at];
  const before = of.turns.slice(0, at);
  chooseThisOne();
  const turn = { collection: again ? of.turns[at].collection : $("collection").value || currentCollection(), question, answer: "", reply: null, rating: null };
  const view = turnView(turn);
  const leaves = [$("welcome"), $("ask-form").querySelector("[type=submit]"), old?.li].some((e) => e?.contains(document.activeElement));
  busy(abort);
  if (views[at]) views[at].li.replaceWith(view.li);
  else $("thread").append(view.li);
  views = [...views.slice(0, at), view];
  showHead();
  view.note.textContent = "Looking…";
  view.answer.setAttribute("aria-busy", "true"); // a screen reader waits for the whole
  view.li.scrollIntoView({ block: "start" });
  if (leaves) headingOf(view).focus({ preventScroll: true });
  const retry = () => {
    if (conversation === of) ask(question, at);
  };
  try {
    const a = await stream(view, messagesBefore(before, turn.collection), again, abort.signal);
    Object.assign(turn, { answer: a.answer || "", reply: worthKeeping(a) });
    view.turn = turn;
    of.turns = [...before, turn];
    if (conversation === of) fillLast();
    if ($("question").value.trim() === question) { // what else was typed meanwhile stays
      $("question").value = "";
      grow();
    }
    showKeeping(of, await keepTurn(of, at, abort.signal));
  } catch (e) {
    if (again && !turn.reply) { // what there was is better than nothing
      if (conversation === of) putBack(old, at);
      if (e.name !== "AbortError") tell("The answer stays as it was: " + e.message);
    } else if (e.name !== "AbortError") {
      fillFailure(view, e, retry);
      if (e.away && first) unasked = { question, again: () => conversation === of && views[at] === view && retry() };
    } else {
      fillFailure(view, new Error("Stopped."), retry);
      view.answer.querySelector(".error").className = "muted";
    }
  } finally {
    view.answer.removeAttribute("aria-busy");
    if (asking === abort) busy(null);
  }
}

addEventListener("reachable", () => unasked?.again());

// Is there nothing to ask about? Looks again: documents may have come in some other way.
async function nothingYet() {
  if ($("nothing-yet").hidden) return false;
  dispatchEvent(new Event("collections"));
  const { data } = await call("/collections").catch(() => ({ data: null }));
  return Boolean(data && data.every((c) => !c.documents)); // not to be had: why is told of the question
}

// ---- the form --------------------------------------------------------------------------------

function grow() {
  const q = $("question");
  q.style.height = "auto";
  q.style.height = Math.min(q.scrollHeight + 2, 240) + "px";
}
$("question").addEventListener("input", grow);
$("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    $("ask-form").requestSubmit();
  }
});
$("ask-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const question = $("question").value.trim();
  if (question) ask(question);
});
$("top-k").addEventListener("invalid", () => { $("options").open = true; }); // what is wrong is shown where it is
$("stop").addEventListener("click", () => {
  asking?.abort();
  $("question").focus();
});
$("collection").addEventListener("change", () => {
  if (!conversation.turns.length) suggest($("collection").value, (q) => ask(q));
});
$("new").addEventListener("click", () => {
  showConversation(null);
  location.hash = "#ask";
  $("question").value = "";
  grow();
  $("question").focus();
});
