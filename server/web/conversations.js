// Conversations that the service keeps: listed beside the views, found, opened, renamed, shared, exported, deleted.
import { call, put } from "/assets/api.js";
import { conversation, showConversation, showHead } from "/assets/ask.js";
import { $, asks, clip, copy, count, download, element, field, iconButton, tell, words } from "/assets/dom.js";
import { asMarkdown, fileNameOf } from "/assets/export.js";
import { soundTurn } from "/assets/sound.js";

const PAGE = 40, TITLE = 80;
const path = (id) => "/conversations/" + encodeURIComponent(id);
let keeps = true; // false: the service said that it keeps none; it is asked no more

// ---- the list --------------------------------------------------------------------------------

// "Today", "Yesterday", then the month.
function ageOf(t) {
  const day = (d) => Math.floor((d.getTime() - d.getTimezoneOffset() * 6e4) / 864e5), then = new Date(t), ago = day(new Date()) - day(then);
  return ago <= 0 ? "Today" : ago === 1 ? "Yesterday" : ago < 7 ? "This week" : then.toLocaleDateString([], { month: "long", year: "numeric" });
}

function markCurrent() {
  for (const a of $("kept").querySelectorAll("a")) {
    if (a.hash === location.hash) a.setAttribute("aria-current", "true");
    else a.removeAttribute("aria-current");
  }
}
addEventListener("hashchange", markCurrent);

let latest = 0, age = ""; // a slow reply must not cover a later one; the last heading

// Gives back why they could not be had; nothing where they are there.
export async function showKept(after) {
  const mine = ++latest, q = $("find").value.trim();
  let page;
  try {
    page = await call("/conversations?limit=" + PAGE + (q ? "&q=" + encodeURIComponent(q) : "") + (after ? "&after=" + encodeURIComponent(after) : ""));
  } catch (e) {
    if (mine === latest) $("kept-note").textContent = $("trouble").hidden ? e.message : "";
    return e;
  }
  if (mine !== latest) return null;
  if (!after) {
    $("kept").replaceChildren();
    age = "";
  }
  for (const c of page.data) {
    if (ageOf(c.updated_at) !== age) {
      age = ageOf(c.updated_at);
      $("kept").append(element("li", age, "age"));
    }
    const li = element("li"), a = words(element("a"));
    a.append(element("span", c.title || "Without a title", "title"));
    a.href = "#ask/" + c.id;
    if (c.shared) a.append(element("span", "shared", "tag"));
    li.append(a);
    $("kept").append(li);
  }
  const n = $("kept").querySelectorAll("a").length;
  $("kept-note").textContent = q ? (n ? count(n, "conversation has", "conversations have") + " these words" + (page.has_more ? ", and more." : ".") : "None has these words.")
    : n ? "" : "What you ask is kept here.";
  $("kept-more").hidden = !page.has_more;
  $("kept-more").onclick = async () => {
    await showKept(page.last_id);
    $("kept").querySelectorAll("a")[n]?.focus(); // the first of those that came
  };
  markCurrent();
  return null;
}

let typing = 0;
$("find").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(showKept, 200);
});

// ---- one of them -----------------------------------------------------------------------------

let choice = 0; // the latest: a slow conversation must not cover what was chosen after it, or end a question asked since
export const chooseAnother = () => ++choice;

// Who asks has chosen the conversation in sight, whatever was still on its way.
export function chooseThisOne() {
  const named = location.hash.split("/")[1];
  chooseAnother();
  if (!named || named === conversation.id) return;
  history.replaceState(null, "", conversation.id ? "#ask/" + conversation.id : "#ask");
  markCurrent();
}

// By its link; one that is already in sight stays as it is. false: something else was chosen meanwhile, and stays.
export async function openConversation(id) {
  const mine = chooseAnother();
  if (conversation.id === id) return true;
  let c = null, wrong = null;
  try {
    c = await call(path(id));
    c.turns = c.turns.map(soundTurn);
  } catch (e) {
    wrong = e;
  }
  if (mine !== choice) return false;
  showConversation(c);
  if (!wrong) return true;
  tell(wrong.status === 404 ? "There is no such conversation, or it is not shared with you." : wrong.message);
  location.replace("#ask");
  return true;
}

// ---- kept as they come -----------------------------------------------------------------------

const TRIES = 3, LONGEST_WAIT = 10; // how often, and for how many seconds at most, a busy service is waited for

const pause = (seconds, signal) => new Promise((go) => {
  const timer = setTimeout(go, 1000 * seconds);
  signal?.addEventListener("abort", () => {
    clearTimeout(timer);
    go();
  }, { once: true });
});

// Where the service is busy it is asked again when it wants to be.
async function patiently(act, signal) {
  for (let left = TRIES; ; left--) {
    try {
      return await act();
    } catch (e) {
      if ((e.status !== 429 && e.status !== 503) || left <= 1 || signal?.aborted) throw e;
      await pause(Math.min(Math.max(e.wait, 1), LONGEST_WAIT), signal);
    }
  }
}

const putTurn = (id, at, t, query = "") =>
  put("PUT", path(id) + "/turns/" + at + query, { question: t.question, answer: t.answer, collection: t.collection, reply: t.reply });

async function begin(c, signal) {
  const title = c.title || clip(c.turns[0].question.replaceAll(/\s+/g, " "), TITLE);
  const made = await patiently(() => put("POST", "/conversations", { title, collection: c.turns[0].collection }), signal);
  c.id = made.id;
  c.title = title;
  if (conversation === c && !$("view-ask").hidden) history.replaceState(null, "", "#ask/" + c.id);
  dispatchEvent(new Event("current"));
}

// It was changed in another place: what came there stays, and what is unsent stands behind it. A turn whose reply was lost
// is there.
async function takeOthers(c, signal) {
  const turns = (await patiently(() => call(path(c.id)), signal)).turns.map(soundTurn);
  const mine = c.turns.slice(c.unsent);
  for (let at = c.unsent; mine.length && turns[at]?.question === mine[0].question && turns[at].answer === mine[0].answer; at++) mine.shift();
  c.turns = [...turns, ...mine];
  c.stored = c.unsent = turns.length;
}

// It was deleted in another place: all that stands here begins a new one, or nothing said in it would be kept any more.
async function beginAnew(c, signal) {
  Object.assign(c, { id: null, shared: false, stored: 0, unsent: 0 });
  await begin(c, signal);
  tell("This conversation was deleted in another place. What stands here is kept as a new one.");
}

const isGone = (e) => e.status === 404 && e.param === "id"; // else it is the collection that this key may not use

async function putTurns(c, signal) {
  for (let met = 0; c.unsent < c.turns.length;) {
    try {
      await patiently(() => putTurn(c.id, c.unsent, c.turns[c.unsent], "?turns=" + c.stored), signal);
      c.stored = ++c.unsent;
    } catch (e) {
      if ((e.status !== 409 && !isGone(e)) || c.deleted || ++met > TRIES) throw e;
      await (isGone(e) ? beginAnew(c, signal) : takeOthers(c, signal));
    }
  }
  c.unsent = null;
}

// A turn is whole: it goes to the service, with those before it that could not be kept when they were. c.turns may be
// others afterwards. Why it is not kept; "" where it is, or nothing is to be.
export async function keepTurn(c, at, signal) {
  if (!keeps || !c.own) return "";
  c.unsent = Math.min(c.unsent ?? at, at);
  try {
    if (!c.id) await begin(c, signal);
    await putTurns(c, signal);
  } catch (e) {
    if (e.status === 403 || e.status === 501) keeps = false; // a server that only reads
    return e.message;
  }
  await showKept();
  return "";
}

// ---- a copy of somebody else's ---------------------------------------------------------------

const copied = new Set(); // ids of those that a copy is made of: a second click makes no second one
export const isCopied = (c) => copied.has(c.id);

// The service copies: all of it is there, or nothing.
const copyOf = async (c) => (await put("POST", "/conversations", { title: c.title, copy_of: c.id })).id;

// To go on with. Who has gone elsewhere before the copy is there stays where he is, and finds it in the list.
$("adopt").addEventListener("click", async () => {
  const of = conversation;
  if (isCopied(of)) return;
  chooseThisOne();
  const mine = choice;
  copied.add(of.id);
  $("adopt").disabled = true;
  try {
    const id = await copyOf(of);
    await showKept();
    if (mine === choice) location.hash = "#ask/" + id;
    else tell("Your copy of \u201C" + of.title + "\u201D is among your conversations.");
  } catch (e) {
    tell("No copy could be made: " + e.message);
  } finally {
    copied.delete(of.id);
    $("adopt").disabled = isCopied(conversation);
  }
});

// ---- what is done with one's own -------------------------------------------------------------

async function rename() {
  const input = words(element("input"));
  input.value = conversation.title;
  input.maxLength = 200;
  input.required = true;
  const of = conversation;
  const went = await asks({ title: "Rename the conversation", body: [field("Title", input)], yes: "Rename",
    act: async () => {
      const title = input.value.trim();
      if (!title) throw new Error("A title needs at least one letter, digit or sign.");
      of.title = (await put("PATCH", path(of.id), { title })).title;
    } });
  if (went) {
    showKept();
    tell("Renamed.");
  }
  showHead();
}

const link = (c) => location.origin + location.pathname + "#ask/" + c.id;

async function share() {
  const of = conversation;
  if (of.shared) {
    if (await asks({ title: "Stop sharing this conversation?", yes: "Stop sharing",
      body: [element("p", "Its link then opens it for nobody but you:"), element("code", link(of), "link-text")],
      act: () => put("PATCH", path(of.id), { shared: false }) })) {
      of.shared = false;
      tell("No longer shared.");
    }
  } else if (await asks({ title: "Share this conversation?", yes: "Share and copy the link",
    body: [element("p", "Who has the link and a key of this service may read it, as long as the key may see what it cites. Nobody but you can change it."), element("code", link(of), "link-text")],
    act: () => put("PATCH", path(of.id), { shared: true }) })) {
    of.shared = true;
    await copy(link(of)).then(() => tell("Shared; the link is in the clipboard."), () => tell("Shared; its link is this page's address."));
  }
  showActions();
  showKept();
}

async function remove() {
  const of = conversation;
  if (!(await asks({ title: "Delete this conversation?", danger: true, yes: "Delete",
    body: [element("p", "\u201C" + $("ask-title").textContent + "\u201D and its " + count(of.turns.length, "answer") + " go for good.")],
    act: async () => {
      of.deleted = true; // here: what is still on its way to be kept begins no new one
      await call(path(of.id), { method: "DELETE" }).catch((e) => {
        of.deleted = false;
        throw e;
      });
    } }))) return;
  showConversation(null);
  location.hash = "#ask";
  showKept();
  $("question").focus();
  tell("Deleted.");
}

export function showActions() {
  const had = [...$("conversation-actions").children].indexOf(document.activeElement);
  const acts = [
    ["pen", "Rename", rename],
    ["share", conversation.shared ? "Stop sharing" : "Share", share], // what it does; that it is shared, the list says
    ["save", "Export", () => download(fileNameOf(conversation), asMarkdown(conversation), "text/markdown")],
    ["bin", "Delete", remove],
  ];
  $("conversation-actions").replaceChildren(...acts.map(([name, label, act]) => {
    const b = iconButton(name, label + " the conversation", { text: element("span", label), className: "plain" });
    if (name === "share") b.classList.toggle("on", conversation.shared);
    b.title = label;
    b.addEventListener("click", act);
    return b;
  }));
  $("conversation-actions").children[had]?.focus(); // the same one, made anew
}
