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

// ---- all of them -----------------------------------------------------------------------------

(async () => {
  const page = await load(process.argv[2]);
  for (const story of [dialogs, deleting, halves, sources]) await story(page);
  plan();
  process.exit(0); // the page looks for its service, and words in passing have a timer
})().catch((e) => {
  console.log("not ok " + next() + " - " + e.stack.split("\n").slice(0, 3).join(" "));
  process.exit(1);
});
