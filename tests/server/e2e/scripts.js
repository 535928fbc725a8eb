// The page's scripts by themselves, in node: what happens when things come late, are called off or cannot be read, which a
// browser shows by chance. Run by ../page_scripts_test.sh:
//     node scripts.js FOLDER_OF_SCRIPTS
"use strict";
const { load } = require("./fake_page.js");
const { check, next, plan } = require("./stories.js");

const soon = (ms = 0) => new Promise((done) => setTimeout(done, ms));
const until = async (holds) => {
  for (let i = 0; i < 400 && !holds(); i++) await soon(5);
  return Boolean(holds());
};
const json = (body, status = 200) => new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });

// Requests wait until the test answers them: asked[i].answer(body, status).
function service() {
  const asked = [];
  globalThis.fetch = (path, options = {}) => new Promise((yes, no) => {
    options.signal?.addEventListener("abort", () => no(new DOMException("aborted", "AbortError")));
    asked.push({ path, method: options.method || "GET", body: options.body, signal: options.signal, answer: (body, status) => yes(json(body, status)), reply: yes });
  });
  asked.find_ = (part, method = "GET") => asked.filter((a) => a.path.includes(part) && a.method === method);
  return asked;
}

// ---- what runs behind a dialog ---------------------------------------------------------------

async function dialogs({ $, script }) {
  const { asks } = await script("dom.js");
  let end = null, fail = null, over = null;
  const begin = (more = {}) => {
    over = null;
    asks({ title: "Really?", yes: "Yes", act: () => new Promise((yes, no) => { end = yes; fail = no; }), ...more }).then((went) => { over = went; });
    $("asks-form").fire("submit");
  };
  begin();
  $("asks-no").click();
  const escape = $("asks").fire("cancel");
  await soon(20);
  check("what runs behind a dialog is not called off by closing it", $("asks").open && over === null && $("asks-no").disabled && escape.prevented);
  $("asks").close(); // as browsers do at a second Escape
  await soon(20);
  check("and a browser that closes it all the same finds it open again", $("asks").open && over === null);
  check("another question waits its turn", await asks({ title: "Another?", yes: "Yes" }) === false && $("asks-title").textContent === "Really?");
  fail(new Error("not now"));
  await until(() => !$("asks-no").disabled);
  check("what went wrong is said in it, and it can be closed then", $("asks-error").textContent === "not now" && $("asks").open && over === null);
  $("asks-form").fire("submit");
  await soon();
  end();
  await until(() => over !== null);
  check("tried once more, it is over when the act is", over === true && !$("asks").open);
  asks({ title: "Really?", yes: "Yes" }).then((went) => { over = went; });
  $("asks-no").click();
  check("before anything runs it is called off", await until(() => over === false));
}

async function deleting({ $, script }) {
  const asked = service();
  (await script("collections.js")).loadCollections();
  await until(() => asked.length);
  asked[0].answer({ data: [{ name: "default", documents: 3, chunks: 3, language: "english" }] });
  await soon(5);
  (await script("documents.js")).loadDocuments();
  await until(() => asked.length === 2);
  asked[1].answer({ data: ["a", "b", "c", "d"].map((id) => ({ id, title: id })), has_more: false });
  await until(() => $("documents-list").children.length === 4);
  for (const tr of $("documents-list").children) {
    const box = tr.children[0].children[0];
    box.checked = true;
    box.fire("change");
  }
  $("bulk-delete").click();
  $("asks-form").fire("submit");
  const gone = () => asked.filter((a) => a.method === "DELETE");
  await until(() => gone().length === 1);
  gone()[0].answer({}, 404);
  await until(() => gone().length === 2);
  check("a deletion that runs can be stopped", $("asks-no").textContent === "Stop" && !$("asks-no").disabled);
  $("asks-no").click();
  await soon(20);
  check("it is over once the document it was at is gone", $("asks").open && $("told").textContent === "");
  gone()[1].answer({});
  await until(() => !$("asks").open);
  await until(() => asked.length > 4);
  asked[4].answer({ data: [{ name: "default", documents: 2, chunks: 2, language: "english" }] });
  await until(() => asked.length > 5);
  asked[5].answer({ data: [], has_more: false });
  await until(() => $("told").textContent);
  check("no other is deleted, and those are counted that were", gone().length === 2 && $("told").textContent === "1 document deleted.", gone().length + $("told").textContent);
}

// ---- asking ----------------------------------------------------------------------------------

const events = (...list) => new Response(list.map(([name, data]) => "event: " + name + "\ndata: " + JSON.stringify(data) + "\n\n").join(""), { headers: { "Content-Type": "text/event-stream" } });
const answered = (answer) => events(["done", { answer, status: "answered", answer_source: "extractive", citations: [], contexts: [{ document_id: "d", text: "x".repeat(299) + "\u{1F426}", start: 0, end: 300, score: 1 }] }]);
const whole = (request) => request.body.isWellFormed?.() !== false && !/\\ud[89a-f]/i.test(request.body); // JSON writes half a character as \ud83d

// Asks, and has the service answer; what the page asks of it meanwhile is in `asked`.
async function answer(asked, ask, question, text) {
  const n = asked.find_("/query", "POST").length, asking = ask(question);
  await until(() => asked.find_("/query", "POST").length > n);
  asked.find_("/query", "POST")[n].reply(answered(text));
  return asking;
}

async function halves({ script }) {
  const { clip } = await script("dom.js"), { ask, showConversation } = await script("ask.js");
  check("a text is cut before a character that it would halve", clip("ab\u{1F426}", 3) === "ab" && clip("ab\u{1F426}", 4) === "ab\u{1F426}" && clip("abc", 2) === "ab" && clip("", 3) === "");
  const asked = service(), long = "a".repeat(79) + "\u{1F426}" + "b".repeat(1918) + "\u{1F426}";
  showConversation(null);
  answer(asked, ask, long, "c".repeat(1999) + "\u{1F426}");
  await until(() => asked.find_("/conversations", "POST").length);
  const made = asked.find_("/conversations", "POST")[0];
  check("so a conversation gets its title", whole(made) && JSON.parse(made.body).title === "a".repeat(79), made.body.slice(0, 200));
  made.answer({ id: "c_1" });
  await until(() => asked.find_("/turns/0", "PUT").length);
  const kept = asked.find_("/turns/0", "PUT")[0];
  check("its turn is kept", whole(kept) && JSON.parse(kept.body).reply.contexts[0].text === "x".repeat(299), kept.body.slice(-200));
  kept.answer({});
  await until(() => asked.find_("/conversations?").length);
  asked.find_("/conversations?")[0].answer({ data: [], has_more: false });
  await soon(10);
  ask("and now?");
  await until(() => asked.find_("/query", "POST").length === 2);
  const next = asked.find_("/query", "POST")[1], sent = JSON.parse(next.body).messages;
  check("and the next question goes out with it", whole(next) && sent.length === 2 && sent[0].content.length === 1999 && sent[1].content === "c".repeat(1999), next.body.slice(-300));
  showConversation(null);
  await soon(10);
}

// ---- sources ---------------------------------------------------------------------------------

async function sources({ $, script }) {
  const { openSource } = await script("reader.js");
  const source = { document_id: "d", start: 6, end: 15, page: 2, bbox: [0, 0, 1, 1] };
  const opened = async (text, of = source, quote = "the heron") => {
    const asked = service(), done = openSource("default", of, quote);
    await until(() => asked.length);
    asked[0].answer({ id: "d", title: "D", text });
    await soon(10);
    const pages = asked.find_("/pages/");
    pages.forEach((p) => p.answer({}, 404));
    await done;
    return { marked: $("reader-text").children.filter((c) => c.tag === "mark").map((c) => c.textContent).join("|"), before: $("reader-text").children[0], note: $("reader-note").textContent, pages: pages.length };
  };
  const same = await opened("Here: the heron."), moved = await opened("\u{1F426} the heron. It was told before. Here: the heron."), other = await opened("Here: a stork now.");
  check("a passage is marked where its source says", same.marked === "the heron" && same.pages === 1 && same.note === "p. 2 · characters 6 to 15", JSON.stringify(same));
  check("where the document has changed, its words are looked for nearest to there", moved.marked === "the heron" && moved.before === "\u{1F426} " && moved.pages === 0 && /changed since · characters 2 to 11$/.test(moved.note), JSON.stringify(moved));
  check("and nothing is marked where they are gone, which is said", other.marked === "" && other.before === "Here: a stork now." && other.pages === 0 && /no longer in it/.test(other.note), JSON.stringify(other));
  const shorter = await opened("Short.");
  check("also of a document that is shorter now", shorter.marked === "" && /no longer in it/.test(shorter.note), JSON.stringify(shorter));
  const begins = await opened("Here: the heron and more.", { document_id: "d", start: 6, end: 24 });
  check("of a long passage the beginning is known", begins.marked === "the heron and more", JSON.stringify(begins));
  const read = await opened("Whole.", { document_id: "d" }, undefined);
  check("a document that is read as a whole has no passage", read.marked === "" && read.note === "", JSON.stringify(read));
}

const conversationOf = (id, turns = 0) => ({ id, title: id, own: true, shared: false, turns: Array.from({ length: turns }, () => ({ question: "q", answer: "a", collection: "default", rating: null, reply: { contexts: [], citations: [] } })) });

async function late({ $, location, script }) {
  const asking = await script("ask.js"), { openConversation } = await script("conversations.js");
  let asked = service();
  asking.showConversation(null);
  const choose = (id) => {
    location.hash = "#ask/" + id;
    return openConversation(id);
  };
  const slow = choose("c_slow"), quick = choose("c_quick");
  await until(() => asked.length === 2);
  asked[1].answer(conversationOf("c_quick", 1));
  check("what was chosen last is opened", await quick && asking.conversation.id === "c_quick");
  asked[0].answer(conversationOf("c_slow", 1));
  check("and not covered by a slow one chosen before", !(await slow) && asking.conversation.id === "c_quick" && location.hash === "#ask/c_quick");
  const missing = choose("c_missing");
  choose("c_quick");
  await until(() => asked.length === 3);
  asked[2].answer({ error: { message: "none" } }, 404);
  check("nor by one that is not there", !(await missing) && asking.conversation.id === "c_quick" && location.hash === "#ask/c_quick");
  const other = choose("c_other");
  asking.showConversation(null);
  await until(() => asked.length >= 4);
  asked.find_("c_other")[0].answer(conversationOf("c_other", 1));
  check("a new conversation stays, too", !(await other) && asking.conversation.id === null);

  asking.showConversation(conversationOf("c_mine", 1));
  asked = service();
  const late = choose("c_late");
  asking.ask("and now?");
  await until(() => asked.find_("/query", "POST").length);
  asked.find_("c_late")[0].answer(conversationOf("c_late", 1));
  check("a question is not ended by one chosen before it was asked", !(await late) && !asked.find_("/query", "POST")[0].signal.aborted && asking.conversation.id === "c_mine" && location.hash === "#ask/c_mine", location.hash);
  const fresh = choose("c_fresh");
  await until(() => asked.find_("c_fresh").length);
  asked.find_("c_fresh")[0].answer(conversationOf("c_fresh", 1));
  check("but by one that is chosen while it runs", await fresh && asked.find_("/query", "POST")[0].signal.aborted && asking.conversation.id === "c_fresh");
  asking.showConversation(null);
  const first = choose("c_first");
  asking.showFresh();
  await until(() => asked.find_("c_first").length);
  asked.find_("c_first")[0].answer(conversationOf("c_first", 1));
  check("what is drawn anew before anything is asked calls nothing off", await first && asking.conversation.id === "c_first");
  asking.showConversation(null);
  await until(() => $("stop").hidden);
}

// Somebody else's conversation, and the copy to go on with.
async function adopting({ $, location, script }) {
  const asking = await script("ask.js");
  await script("conversations.js");
  const theirs = () => ({ ...conversationOf("c_theirs", 2), own: false, shared: true });
  const asked = service(), made = () => asked.find_("/conversations", "POST"), kept = () => asked.find_("/turns/", "PUT");
  const list = () => asked.find_("/conversations?");
  const finish = async (at, id) => { // of the copies that were begun so far
    const listed = list().length;
    made()[at].answer({ id });
    await until(() => list().length > listed);
    list()[listed].answer({ data: [], has_more: false });
    await soon(10);
  };
  asking.showConversation(theirs());
  location.hash = "#ask/c_theirs";
  $("adopt").click();
  $("adopt").fire("click"); // as a browser queues it
  await until(() => made().length);
  await soon(10);
  check("a second click makes no second copy", made().length === 1 && $("adopt").disabled);
  await finish(0, "c_copy");
  check("the service copies all turns, and the copy is gone to", location.hash === "#ask/c_copy" && JSON.parse(made()[0].body).copy_of === "c_theirs" && !kept().length && !$("adopt").disabled, location.hash);

  asking.showConversation(theirs());
  location.hash = "#ask/c_theirs";
  $("adopt").click();
  await until(() => made().length === 2);
  asking.showConversation(conversationOf("c_other", 1));
  location.hash = "#ask/c_other";
  check("another conversation may be copied meanwhile", !$("adopt").disabled);
  asking.showConversation(theirs());
  check("but this one not once more", $("adopt").disabled);
  asking.showConversation(conversationOf("c_other", 1));
  await finish(1, "c_second");
  check("who has gone elsewhere stays there, and is told of the copy", location.hash === "#ask/c_other" && asking.conversation.id === "c_other" && /among your conversations/.test($("told").textContent), location.hash);

  asking.showConversation(theirs());
  $("adopt").click();
  await until(() => made().length === 3);
  made()[2].answer({ error: { message: "the disk is full" } }, 507);
  await soon(10);
  check("why there is none is said, and it can be tried again", /the disk is full/.test($("told").textContent) && !$("adopt").disabled, $("told").textContent);
  asking.showConversation(null);
  location.hash = "";
}

// Turns that the service would not take at first, and those that came in another tab.
async function keeping({ $, script }) {
  const asking = await script("ask.js"), asked = service();
  const puts = () => asked.find_("/turns/", "PUT"), listed = () => asked.find_("/conversations?");
  const said = () => $("thread").children.map((li) => li.children.find((c) => c.className === "unkept").textContent || "");
  asking.showConversation(conversationOf("c_two", 1));
  const first = answer(asked, asking.ask, "One?", "1.");
  await until(() => puts().length === 1);
  check("a turn goes out with the count of those that are known", puts()[0].path === "/conversations/c_two/turns/1?turns=1", puts()[0].path);
  puts()[0].answer({ error: { message: "busy" } }, 503);
  check("a busy service is asked once more", await until(() => puts().length === 2) && puts()[1].path === puts()[0].path);
  puts()[1].answer({ error: { message: "full" } }, 413);
  await first;
  check("what is not kept says so where it stands", said()[0] === "" && /full/.test(said()[1]), said().join("|"));
  const second = answer(asked, asking.ask, "Two?", "2.");
  await until(() => puts().length === 3);
  check("it goes out before the next turn", puts()[2].path === "/conversations/c_two/turns/1?turns=1" && JSON.parse(puts()[2].body).question === "One?", puts()[2].path);
  puts()[2].answer({});
  await until(() => puts().length === 4);
  puts()[3].answer({ error: { message: "4 turns" } }, 409);
  await until(() => asked.find_("/conversations/c_two").length);
  asked.find_("/conversations/c_two")[0].answer(conversationOf("c_two", 4));
  await until(() => puts().length === 5);
  check("a turn stands behind those of another tab", puts()[4].path === "/conversations/c_two/turns/4?turns=4" && JSON.parse(puts()[4].body).question === "Two?", puts()[4].path);
  puts()[4].answer({});
  await until(() => listed().length);
  listed()[0].answer({ data: [], has_more: false });
  await second;
  check("and they come into sight", asking.conversation.turns.length === 5 && said().length === 5 && said().join("") === "", said().join("|"));
  asking.showConversation(null);
  await soon(10);
}

// A conversation that was deleted in another tab: what stands in this one is kept as a new one.
async function deletedElsewhere({ $, location, script }) {
  const asking = await script("ask.js"), asked = service();
  const puts = () => asked.find_("/turns/", "PUT"), made = () => asked.find_("/conversations", "POST");
  asking.showConversation({ ...conversationOf("c_gone", 1), title: "Herons", shared: true });
  const done = answer(asked, asking.ask, "One?", "1.");
  await until(() => puts().length === 1);
  puts()[0].answer({ error: { message: "there is no conversation 'c_gone'", param: "id" } }, 404);
  await until(() => made().length === 1);
  check("a conversation that was deleted in another tab is begun anew by its title", JSON.parse(made()[0].body).title === "Herons", made()[0]?.body);
  made()[0].answer({ id: "c_new" });
  for (let i = 1; i < 3; i++) {
    await until(() => puts().length === i + 1);
    puts()[i]?.answer({});
  }
  check("with all its turns", puts().slice(1).map((p) => p.path).join() === "/conversations/c_new/turns/0?turns=0,/conversations/c_new/turns/1?turns=1", puts().map((p) => p.path).join());
  await until(() => asked.find_("/conversations?").length);
  asked.find_("/conversations?")[0]?.answer({ data: [], has_more: false });
  await done;
  check("which is said, and is where one is now", asking.conversation.id === "c_new" && !asking.conversation.shared && location.hash === "#ask/c_new" && /deleted in another place/.test($("told").textContent), location.hash + $("told").textContent);
  const next = answer(asked, asking.ask, "Two?", "2.");
  await until(() => puts().length === 4);
  puts()[3]?.answer({ error: { message: "there is no collection 'default'", param: "collection" } }, 404);
  await next;
  check("but not where the key may no longer use its collection", made().length === 1 && asking.conversation.id === "c_new");
  asking.showConversation(null);
  location.hash = "";
}

// The question was renamed to blanks, and asked where nothing can be: what the reader had stays, and he is told why.
async function inVain({ $, script }) {
  const asking = await script("ask.js"), asked = service();
  const { showActions } = await script("conversations.js");
  asking.showConversation({ ...conversationOf("c_named", 1), title: "Herons" });
  showActions();
  const [rename, , , remove] = $("conversation-actions").children;
  rename.click();
  const input = $("asks-body").children[0].children[1];
  input.value = "   ";
  $("asks-form").fire("submit");
  await until(() => !$("asks-error").hidden);
  check("a conversation is renamed to no blanks", $("asks").open && /title/.test($("asks-error").textContent) && asked.length === 0 && asking.conversation.title === "Herons", $("asks-error").textContent);
  $("asks-no").click();
  await until(() => !$("asks").open);
  await soon(10);
  remove.click();
  check("one answer is not called answers when it is to be deleted", / and its 1 answer go for good\.$/.test($("asks-body").textContent), $("asks-body").textContent);
  $("asks-no").click();
  await soon(10);

  let seen = 0;
  $("nothing-yet").hidden = false;
  $("nothing-yet").scrollIntoView = () => seen++;
  $("told").textContent = "";
  $("question").value = "How tall?";
  $("ask-form").fire("submit");
  await until(() => asked.find_("/collections").length);
  asked.find_("/collections").forEach((a) => a.answer({ data: [] }));
  await until(() => $("told").textContent);
  check("who asks where there are no documents is told so, and how to add some comes into sight", /no documents yet/.test($("told").textContent) && seen === 1 && asked.find_("/query", "POST").length === 0, $("told").textContent);
  check("his question stays", $("question").value === "How tall?" && $("thread").children.length === 1);
  $("nothing-yet").hidden = true;
  $("question").value = "";
  asking.showConversation(null);
}

// What the service says instead of an answer, and what it took the question for, are kept with the turn.
async function saidInstead({ script }) {
  const { fillTurn, turnView, worthKeeping } = await script("thread.js"), { answerAsText, asMarkdown } = await script("export.js");
  const refusal = "Die Dokumente beantworten diese Frage nicht.", rewritten = { query: "Und wie gro\u00df? Reiher", by: "words" };
  const turnOf = (reply) => ({ question: "Und wie gro\u00df?", answer: "", collection: "default", rating: null, reply: worthKeeping({ status: "abstained", citations: [], contexts: [], ...reply }) });
  const shown = (turn) => {
    const view = turnView(turn);
    fillTurn(view);
    return view;
  };
  const turn = turnOf({ refusal, rewritten }), view = shown(turn), old = shown(turnOf({}));
  check("why there is no answer is said in the question's language", view.answer.textContent === refusal && old.answer.textContent === "The documents do not answer this question.", view.answer.textContent);
  check("also where it is copied and exported", answerAsText(turn) === refusal && asMarkdown({ title: "R", turns: [turn] }).includes("\n*" + refusal + "*\n"), asMarkdown({ title: "R", turns: [turn] }));
  check("what was looked for is said where the question leant on others", !view.asked.hidden && view.asked.textContent === "Asked as: Und wie gro\u00df? Reiher" && old.asked.hidden && view.li.children.includes(view.asked), view.asked.textContent);
}

async function typed({ $, script }) {
  const { ask, showConversation } = await script("ask.js"), asked = service();
  showConversation(null);
  const kept = async () => { // where the service keeps nothing, that is asked once
    await until(() => asked.find_("/conversations", "POST").length);
    asked.find_("/conversations", "POST").forEach((a) => a.answer({ error: { message: "not kept" } }, 501));
  };
  $("question").value = " How tall? ";
  const first = answer(asked, ask, "How tall?", "One metre.");
  await kept();
  await first;
  check("a question that is answered leaves its field", $("question").value === "");
  $("question").value = "How tall?";
  const n = asked.find_("/query", "POST").length, second = ask("How tall?");
  await until(() => asked.find_("/query", "POST").length > n);
  $("question").value = "And how old?";
  asked.find_("/query", "POST")[n].reply(answered("One metre."));
  await second;
  check("what is typed meanwhile stays", $("question").value === "And how old?");
  await answer(asked, (q) => ask(q, 1), "How tall?", "One metre.");
  check("also when a question is asked again", $("question").value === "And how old?");
  showConversation(null);
}

// What is shown once must not be taken for copied.
async function copying({ $, script }) {
  const { asks, copy } = await script("dom.js"), dialog = document.querySelector("dialog[open]");
  const taken = [];
  let into = null, over = null;
  Object.defineProperty(globalThis, "navigator", { value: {}, configurable: true, writable: true }); // the page is of no secure origin
  dialog.append = (t) => { into = t; };
  document.execCommand = () => taken.push(into?.textContent) && taken.length > 1;
  const make = document.createElement;
  document.createElement = (tag) => Object.assign(make(tag), { select() {} });
  asks({ title: "The key", yes: "Copy it", act: () => copy("fk_1") }).then((went) => { over = went; });
  $("asks-form").fire("submit");
  await until(() => !$("asks-error").hidden);
  check("what the browser does not let be copied is not said to be, and its dialog stays", $("asks").open && over === null && /copy/.test($("asks-error").textContent), $("asks-error").textContent);
  $("asks-form").fire("submit");
  check("what is copied from a dialog is taken within it, as all else is inert", await until(() => over === true) && taken.join() === "fk_1,fk_1", taken.join());
  document.createElement = make;
}

async function unusual({ $, script }) {
  const asking = await script("ask.js");
  $("top-k").fire("invalid");
  check("a number of passages that cannot be is shown where it is", $("options").open === true);
  asking.showConversation(conversationOf("c_bare", 0));
  asking.showFresh();
  check("a conversation without turns stays in sight, to be renamed or deleted", asking.conversation.id === "c_bare" && !$("conversation-actions").hidden);
  asking.showConversation(null);
}

// A reader who gives no key is left in peace until he does something himself.
async function keyless({ $, script }) {
  const { call } = await script("api.js"), { showSources } = await script("sources.js"), timers = [], wrong = [];
  globalThis.fetch = async (path) => timers.asked.push(path) && json({ error: { message: "a key is needed" } }, 401);
  timers.asked = [];
  const every = globalThis.setInterval, end = globalThis.clearInterval;
  globalThis.setInterval = (f) => timers.push(f);
  globalThis.clearInterval = (n) => { delete timers[n - 1]; };
  showSources(true);
  check("without a key one is asked for", await until(() => $("key-dialog").open));
  $("key-cancel").click();
  await soon(20);
  check("who gives none is not asked again by what looks by itself, which ends", !$("key-dialog").open && timers.filter(Boolean).length === 0, timers.length);
  await call("/collections").catch((e) => wrong.push(e.status));
  check("nor by what else the page wants to know", wrong.join() === "401" && !$("key-dialog").open);
  document.body.fire("click");
  const asked = call("/collections").catch((e) => wrong.push(e.status));
  check("but once he has done something", await until(() => $("key-dialog").open));
  $("key-cancel").click();
  await asked;
  document.body.fire("click");
  globalThis.setInterval = every;
  globalThis.clearInterval = end;
}

// Values that metadata has as a number or as a string, and fields in which something is typed that is not applied.
async function filtering({ $, script }) {
  const asked = [];
  let more = true;
  globalThis.fetch = async (path, options = {}) => {
    asked.push(options.method === "DELETE" ? { path, deletes: true } : { path });
    return path.startsWith("/collections") ? json({ data: [{ name: "default", documents: 3, chunks: 3, language: "english" }] })
      : json(options.method === "DELETE" ? { matched: 1, chunks: 1, ids: ["a"], deleted: 1 } : { data: [{ id: "a", title: "a" }], has_more: more, last_id: "a" });
  };
  await (await script("collections.js")).loadCollections();
  const { loadDocuments } = await script("documents.js");
  const last = () => new URL(asked[asked.length - 1].path, "http://page").searchParams;
  const apply = async (type, value) => {
    Object.assign($("filter-key"), { value: "year" });
    Object.assign($("filter-type"), { value: type });
    Object.assign($("filter-value"), { value });
    $("find-documents").fire("submit");
    await soon(10);
    const { key, ...rest } = JSON.parse(last().get("filter"));
    return key + " " + JSON.stringify(rest.type) + JSON.stringify(rest.value);
  };
  const wanted = [["eq", "2024", '"in"[2024,"2024"]'], ["ne", "2024", '"nin"[2024,"2024"]'], ["eq", "true", '"in"[true,"true"]'], ["eq", '"2024"', '"eq""2024"'],
    ["ne", "mill", '"ne""mill"'], ["gte", "2024", '"gte"2024'], ["eq", "9007199254740993", '"eq""9007199254740993"'], ["eq", "1e999", '"eq""1e999"'], ["eq", "null", '"eq""null"']];
  const got = [];
  for (const [type, value] of wanted) got.push(await apply(type, value));
  check("a value that may be a number is looked for as a string, too, and in quotation marks as one alone", got.every((g, i) => g === "year " + wanted[i][2]), got.join("; "));

  await apply("eq", "2024");
  $("filter-value").value = "1999";
  $("more").onclick();
  await soon(10);
  check("what is typed and not applied narrows nothing down: not what more is shown", /2024/.test(last().get("filter")) && last().get("after") === "a", asked[asked.length - 1].path);
  $("bulk-all").click();
  await until(() => $("asks").open);
  $("asks-form").fire("submit");
  await until(() => !$("asks").open);
  await soon(10);
  const gone = asked.filter((a) => a.deletes);
  check("nor what is deleted", gone.length === 2 && gone.every((a) => /2024/.test(a.path) && !/1999/.test(a.path)), gone.map((a) => a.path).join());
  check("deleting all that match is offered where there is some", !$("bulk").hidden && !$("bulk-all").hidden);
  const some = globalThis.fetch;
  globalThis.fetch = async (path) => (path.startsWith("/collections") ? some(path) : json({ data: [], has_more: false, matched: 0, chunks: 0, ids: [] }));
  $("told").textContent = "";
  $("bulk-all").click();
  check("what is gone by then is not asked about", await until(() => /No document matches/.test($("told").textContent)) && !$("asks").open, $("told").textContent);
  await until(() => $("bulk").hidden);
  check("and where nothing matches nothing is offered", $("bulk").hidden && $("bulk-all").hidden);
  globalThis.fetch = some;
  more = false;
  $("filter-key").value = "";
  $("filter-clear").click();
  await soon(10);
  check("cleared, all is there", !last().has("filter") && !last().has("q"));
  await loadDocuments();
}

// Words that run from the right: which way each block does is left to its own.
async function directions({ script }) {
  const { render } = await script("markdown.js"), { fillTurn, turnView } = await script("thread.js");
  const blocks = render("\u05e9\u05dc\u05d5\u05dd\n\n- a\n\n# b\n\n|a|b|\n|---|---|\n|1|2|\n\n```\nx\n```", () => "", true);
  check("each block of an answer runs as its own words do", blocks.length === 5 && blocks.every((b) => b.dir === "auto"), blocks.map((b) => b.tag + " " + b.dir).join());
  const source = { document_id: "d", title: "\u05e9" }, view = turnView({ question: "\u05e9?", answer: "", collection: "default", rating: null, reply: { contexts: [], citations: [{ index: 1, quote: "\u05e9", source, answer_span: { start: 0, end: 1 } }] } });
  fillTurn(view);
  const shown = view.sources.children[1].children[0].children[0].children.filter((c) => /name|quote/.test(c.className));
  check("and so do a question, and the name and words of a source", [view.li.children[0], view.answer.children[0], ...shown].every((e) => e.dir === "auto") && shown.length === 2);
}

// An answer that is asked for again and does not come, and one that comes while another view is in sight.
async function kept({ $, script }) {
  const asking = await script("ask.js"), asked = service();
  asking.showConversation(conversationOf("c_good", 1));
  const [good] = $("thread").children, again = asking.ask("q", 0);
  await until(() => asked.find_("/query", "POST").length);
  check("an answer that is asked for again gives way", $("thread").children[0] !== good);
  asked.find_("/query", "POST")[0].answer({ error: { message: "too many requests wait already" } }, 503);
  await again;
  check("but not to a failure, which is told", $("thread").children[0] === good && asking.conversation.turns[0].answer === "a" && /too many requests/.test($("told").textContent), $("told").textContent);
  const main = Object.assign($("main"), { scrollTop: 5, scrollHeight: 100, clientHeight: 100 }), stopped = asking.ask("q", 0);
  await until(() => asked.find_("/query", "POST").length === 2);
  $("stop").click();
  await stopped;
  check("nor to being stopped", $("thread").children[0] === good);
  $("view-ask").hidden = true;
  const other = answer(asked, asking.ask, "q?", "One metre.");
  await until(() => asked.find_("/turns/1", "PUT").length);
  asked.find_("/turns/1", "PUT")[0].answer({});
  await until(() => asked.find_("/conversations?").length);
  asked.find_("/conversations?")[0].answer({ data: [], has_more: false });
  await other;
  check("an answer does not scroll another view", main.scrollTop === 5, main.scrollTop);
  $("view-ask").hidden = false;
  asking.showConversation(null);
}

// A service that lets in so many requests a second, which are fewer than the page has.
async function slowly({ $, window, script }) {
  const { call } = await script("api.js"), asking = await script("ask.js"), asked = service();
  const slow = (param) => new Response(JSON.stringify({ error: { message: "one a second", param } }), { status: 429, headers: { "Retry-After": "0.05" } });
  $("status").textContent = "3 documents";
  const list = call("/collections").then((r) => r.data, (e) => e.message);
  asked[0].reply(slow("requests"));
  check("what is refused for coming too soon waits, which is said", await until(() => /few requests a second/.test($("status").textContent)), $("status").textContent);
  check("and goes out again by itself", await until(() => asked.length === 2));
  asked[1]?.answer({ data: "all" });
  check("as if nothing had been", await list === "all" && $("status").textContent === "3 documents", await list + ", " + $("status").textContent);
  const other = call("/collections").then(() => "", (e) => e.message);
  asked[2].reply(slow("concurrent"));
  check("what is refused for another reason does not", await other === "one a second" && asked.length === 3, await other);

  asking.showConversation(null);
  const question = asking.ask("q?"), posts = () => asked.find_("/query", "POST");
  await until(() => posts().length === 1);
  posts()[0].reply(slow("requests"));
  check("so does a question", await until(() => posts().length === 2) && /Waiting/.test($("thread").children[0].children.map((c) => c.textContent).join()), $("thread").textContent);
  posts()[1]?.reply(slow("requests"));
  await until(() => /few requests/.test($("status").textContent));
  $("stop").click();
  await question;
  check("which may be stopped while it waits", /Stopped/.test($("thread").textContent) && posts().filter((p) => !p.signal.aborted).length === 0, $("thread").textContent);

  await script("uploads.js");
  const sent = ingest();
  const header = globalThis.XMLHttpRequest.prototype.getResponseHeader;
  globalThis.XMLHttpRequest.prototype.getResponseHeader = () => "0.005";
  drop(window, file("a"));
  for (let i = 0; i < 8; i++) {
    await until(() => sent.length === i + 1);
    sent[i]?.answer(429, { error: { message: "one a second", param: "requests" } });
  }
  await until(() => sent.length === 9);
  sent[8]?.answer(200);
  check("and a file has its turn however often it came too soon", await until(() => note($) === "1 file is in and can be asked about."), note($) + sent.length);
  globalThis.XMLHttpRequest.prototype.getResponseHeader = header;
  await soon(20);
}

// A question that a service which is away never had.
async function away({ $, window, script }) {
  const asking = await script("ask.js");
  let posts = 0;
  globalThis.fetch = async (path, options = {}) => {
    posts += options.method === "POST" && path === "/query";
    throw new TypeError("failed to fetch");
  };
  asking.showConversation(null);
  $("question").value = "q?";
  await asking.ask("q?");
  check("that the service is away is told of the question", /cannot be reached/.test($("thread").textContent) && $("question").value === "q?" && posts === 1, $("thread").textContent);
  window.fire("reachable");
  check("which is asked once more when it is back", await until(() => posts === 2) && await until(() => $("stop").hidden), posts);
  window.fire("reachable");
  await soon(30);
  check("but not again and again, where the service ends by it", posts === 2, posts);
  await asking.ask("r?");
  asking.showConversation(null);
  window.fire("reachable");
  await soon(30);
  check("nor in a conversation that was left", posts === 3, posts);
}

// ---- uploads ---------------------------------------------------------------------------------

// What is sent waits until the test answers it: sent[i].answer(status, body).
function ingest() {
  const sent = [];
  globalThis.XMLHttpRequest = class {
    constructor() { this.on = {}; this.upload = { addEventListener() {} }; }
    open() {}
    setRequestHeader() {}
    getResponseHeader() { return "20"; }
    addEventListener(name, f) { this.on[name] = f; }
    abort() { if (!this.status) this.on.abort(); }
    send(form) {
      this.path = form.get("id");
      sent.push(this);
    }
    answer(status, response = { results: [{ status: "created" }] }) {
      Object.assign(this, { status, response });
      this.on.load();
      this.on.loadend?.();
    }
  };
  return sent;
}

const file = (name) => ({ name, isFile: true, file: (yes) => yes(new Blob(["x"])) });
const unreadable = (name) => ({ name, isFile: true, file: (yes, no) => no(new Error("gone")) });
const folder = (name, files, fails) => ({ name, isFile: false, createReader: () => {
  let at = 0;
  return { readEntries: (yes, no) => (at < files.length ? yes(files.slice(at, at += 100)) : fails ? no(new Error("gone")) : yes([])) };
} });
const drop = (window, ...entries) => window.fire("drop", { dataTransfer: { types: ["Files"], files: [], items: entries.map((e) => ({ kind: "file", webkitGetAsEntry: () => e })) } });
const rows = ($) => $("upload-results").children.map((li) => li.children[0].textContent + ": " + li.children[2].textContent);
const note = ($) => $("upload-note").textContent;

// How often the rows of a list are gone through; only by those who take them for themselves, not by the list that moves them.
function walked(list) {
  let rows = list.children, times = 0;
  const counted = (of) => new Proxy(of, { get: (a, k) => {
    if (k === Symbol.iterator) times++;
    return Reflect.get(a, k, a);
  } });
  Object.defineProperty(list, "children", { configurable: true, get: () => counted(rows), set: (to) => { rows = to; } });
  return () => {
    Object.defineProperty(list, "children", { configurable: true, writable: true, enumerable: true, value: rows });
    return times;
  };
}

// Many files, one of them refused: which rows stay, and that no file costs a look at all of them.
async function longList({ $, window }) {
  const sent = ingest(), over = walked($("upload-results")), warned = [];
  process.on("warning", (w) => warned.push(w.name));
  drop(window, folder("long", Array.from({ length: 600 }, (_, i) => file("f" + i))));
  for (let at = 0; at < 600; at += 3) {
    await until(() => sent.length === at + 3);
    for (let i = at; i < at + 3; i++) sent[i].answer(i === 100 ? 422 : 200, i === 100 ? { error: { message: "no text" } } : undefined);
  }
  await until(() => /are in/.test(note($)));
  const times = over(), list = rows($);
  check("of a long list the rows that went well leave, the first of them first", list.length === 500 && list[0] === "long/f100: no text" && list[1] === "long/f101: new" && list[499] === "long/f599: new", list.length + ": " + list.slice(0, 3).join("; "));
  check("and no file is looked at again for each that is in", times === 0, times);
  await soon(20);
  check("nor does what could stop them hold those that are in", !warned.includes("MaxListenersExceededWarning"), warned.join());
}

// What a key may not do, and what a link cannot.
async function forbidden({ $, location, window, script }) {
  const { loadSession } = await script("settings.js"), sent = ingest();
  await script("uploads.js");
  const as = (session) => {
    globalThis.fetch = async () => json({ keys: false, read_only: false, ...session });
    return loadSession();
  };
  location.hash = "#ask";
  await as({ keys: true, may: { read: true, ingest: false } });
  check("with keys there are no links to figures, as a link sends none", $("plain-figures").hidden);
  check("and who may bring nothing in is told that others do, where there is nothing yet", !$("nothing-given").hidden);
  drop(window, folder("c", [file("d")]));
  await soon(20);
  check("who may bring nothing in is told so when he drops files", sent.length === 0 && $("told").textContent === "This key may not bring documents in." && location.hash === "#ask", $("told").textContent);
  await as({ read_only: true, may: { read: true, ingest: true } });
  drop(window, file("a"));
  await soon(20);
  check("and so is he of a service that only reads", sent.length === 0 && /only reads/.test($("told").textContent) && !$("plain-figures").hidden, $("told").textContent);
  await as({ may: { read: true, ingest: true } });
  check("and who may is told how", $("nothing-given").hidden);
}

// A key that another takes the place of: of the same name, and somebody else's.
async function anothers({ $, window, script }) {
  const { call } = await script("api.js"), { loadSession } = await script("settings.js");
  const kept = new Map([["forage-api-key", "hers"]]), was = globalThis.sessionStorage, sent = [];
  const owners = { hers: "ann", "hers too": "ann", his: "bob" };
  let good = "hers", begun = 0;
  globalThis.sessionStorage = { getItem: (k) => kept.get(k) ?? null, setItem: (k, v) => kept.set(k, v), removeItem: (k) => kept.delete(k) };
  globalThis.fetch = async (path, { headers }) => {
    const key = headers.Authorization.slice("Bearer ".length);
    sent.push(path + " " + key);
    return key === good ? json({ keys: true, key: "k_1", name: owners[key], tenant: "default", read_only: false, may: { read: true }, data: [] }) : json({ error: { message: "unknown" } }, 401);
  };
  window.addEventListener("forgotten", () => { begun++; });
  const given = async (key) => {
    good = key;
    call("/query").catch(() => {});
    await until(() => $("key-dialog").open);
    $("key").value = key;
    $("key-dialog").returnValue = "use";
    $("key-dialog").close();
    await until(() => begun || sent.includes("/query " + key));
    await soon(20);
  };
  await loadSession();
  await given("hers too");
  check("what was refused goes out with a newer key of the same name", begun === 0 && sent.includes("/query hers too"), begun + ": " + sent.join());
  await given("his");
  check("but not with somebody else's: the page begins anew", begun === 1 && !sent.includes("/query his") && kept.get("forage-api-key") === "his", begun + ": " + sent.join());
  globalThis.sessionStorage = was;
}

async function uploads({ $, window, script }) {
  globalThis.fetch = async () => json({ data: [], has_more: false });
  await script("uploads.js");
  let sent = ingest();
  drop(window, file("a"), unreadable("b"), folder("c", [file("d"), unreadable("e"), folder("f", [file("g")], true)]), folder("h", [], true));
  await until(() => sent.length === 3);
  sent.forEach((x) => x.answer(200));
  await until(() => /are in and/.test(note($)));
  check("what cannot be read keeps nothing else from going in", note($) === "3 files are in and can be asked about, 4 could not be sent." && sent.map((x) => x.path).join() === "a,c/d,c/f/g", note($));
  check("and is listed with the reason", ["b", "c/e", "c/f", "h"].every((p) => rows($).includes(p + ": cannot be read: gone")), rows($).join("; "));

  sent = ingest();
  drop(window, file("a"), file("b"), file("c"), file("d"));
  await until(() => sent.length === 3);
  sent[0].answer(503, {});
  await until(() => rows($).some((r) => /once more/.test(r)));
  $("upload-clear").click();
  check("Stop is obeyed by what waits for a busy service, too", await until(() => rows($).filter((r) => /stopped/.test(r)).length === 4) && sent.length === 3 && note($) === "0 files are in and can be asked about, 4 stopped.", rows($).join("; ") + note($));
  await soon(20);
  sent = ingest();
  drop(window, file("a"));
  await until(() => sent.length === 1);
  sent[0].answer(200);
  check("and what comes later is not stopped with it", await until(() => note($) === "1 file is in and can be asked about.") && rows($).join() === "a: new", rows($).join() + note($));

  await soon(20);
  sent = ingest();
  drop(window, file("a"), file("b"));
  await until(() => sent.length === 2);
  sent[0].answer(422, { error: { message: "no text" } });
  sent[1].answer(500, { error: { message: "the disk is full" } });
  check("what was refused and what could not be sent are told apart", await until(() => note($) === "0 files are in and can be asked about, 1 refused, 1 could not be sent."), note($));
  const retry = $("upload-results").children.flatMap((li) => li.children).find((c) => c.textContent === "Try again");
  sent = ingest();
  let gone = false;
  document.activeElement = retry;
  $("upload-clear").focus = () => { gone = true; };
  retry?.click();
  check("the focus does not go with the button that tries again", gone);
  await until(() => sent.length === 1);
  sent[0]?.answer(200);
  check("and once it goes in it counts as such", await until(() => note($) === "1 file is in and can be asked about, 1 refused."), note($));

  await soon(20);
  await longList({ $, window });
  await soon(20);
  sent = ingest();
  drop(window, folder("many", Array.from({ length: 20003 }, (_, i) => file("f" + i))));
  await until(() => sent.length === 3);
  check("how many are left out is said", / 3 files were left out: 20,000 go in at once\.$/.test(note($)) && $("upload-results").children.length === 20000, note($));
}

// Last, since the whole page begins to work by it.
async function together({ $, location, window, script }) {
  service();
  globalThis.matchMedia = () => ({ matches: false, addEventListener() {} });
  const wrong = await script("app.js").then(() => "", (e) => e.message);
  check("what a script takes from another is there", wrong === "", wrong);
  const asking = await script("ask.js");
  const go = (to, from) => {
    location.hash = to;
    window.fire("hashchange", { oldURL: "http://page/" + from });
    return soon(10);
  };
  await go("#documents", "#ask");
  asking.showConversation(conversationOf("c_new", 1)); // the answer is there, and kept
  check("an answer that comes while another view is in sight leaves that its title", document.title === "Documents · Forage", document.title);
  await go("#ask", "#documents");
  check("and is found by going back", location.hash === "#ask/c_new" && asking.conversation.id === "c_new", location.hash);
  await go("#documents", "#ask/c_new");
  await go("#ask/c_new", "#documents");
  check("a conversation in sight gives the page its title again", document.title === "c_new · Forage", document.title);
  await go("#ask", "#ask/c_new");
  check("who goes back to before it finds a new one", asking.conversation.id === null && document.title === "Forage", document.title);
  check("who leaves while files go in is asked by the browser whether he means it", window.fire("beforeunload").prevented);
  let fresh = false;
  location.reload = () => { fresh = true; };
  location.hash = "#settings";
  $("forget-key").click();
  await soon(20);
  check("a key that is forgotten takes all with it that it showed, and what goes in with it", fresh && location.hash === "#ask" && !window.fire("beforeunload").prevented, location.hash);
}

// ---- all of them -----------------------------------------------------------------------------

(async () => {
  const page = await load(process.argv[2]);
  for (const story of [dialogs, copying, deleting, halves, sources, late, adopting, keeping, deletedElsewhere, inVain, saidInstead, kept, typed, unusual, keyless, forbidden, slowly, away, filtering, directions, anothers, uploads, together]) await story(page);
  plan();
  process.exit(0); // the page looks for its service, and words in passing have a timer
})().catch((e) => {
  console.log("not ok " + next() + " - " + e.stack.split("\n").slice(0, 3).join(" "));
  process.exit(1);
});
