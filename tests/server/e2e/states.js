// Stories of a service that is not as one wishes: empty, gone, slow, busy, with keys, with a language model at work.
"use strict";
const { between, refuse } = require("./between.js");
const { accessible, ask, check, last, open, until } = require("./stories.js");

// A home without documents says how to add some, and asks nothing in vain.
exports.empty = async ({ browser, url, pictures }) => {
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  await open(page, url + "/#ask");
  await page.waitForSelector("#nothing-yet");
  check("an empty home says how to add documents", (await page.textContent("#nothing-yet")).includes("forage ingest FOLDER --url " + url) && await page.locator("#nothing-yet a[href='#documents']").count() === 1);
  await page.fill("#question", "How tall is the grey heron?");
  await page.keyboard.press("Enter");
  await page.waitForTimeout(500);
  check("and says it again instead of an error when asked", await page.isVisible("#nothing-yet") && await page.locator(".turn").count() === 0);
  check("with the question still there", /no documents yet/.test(await page.textContent("#told")) && await page.inputValue("#question") === "How tall is the grey heron?", await page.textContent("#told"));
  await accessible(page, "that is accessible");
  await page.screenshot({ path: pictures + "/empty-ask.png" });
  await page.locator("#nothing-yet a").click();
  await until(page, () => /no documents here yet/.test(document.getElementById("documents-list").textContent));
  check("the lists say that they are empty", /None yet/.test(await page.textContent("#collections")));
  await accessible(page, "they are accessible");
  await page.screenshot({ path: pictures + "/empty-documents.png" });
  await page.close();
};

async function gone({ browser, url, pictures }) {
  const relay = await between(url, () => false);
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  page.removeAllListeners("console"); // what the browser says of it is its own
  await open(page, relay.url);
  await ask(page, "How tall is the grey heron?");
  await page.getByRole("link", { name: "Dashboard" }).click();
  await page.waitForSelector("#chart-ratio svg .dot");
  await page.getByRole("link", { name: "Ask", exact: true }).click();
  await relay.close();
  await page.fill("#question", "Where does the otter sleep?");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".turn .error");
  check("with the service gone an answer says so in words", /cannot be reached/.test(await last(page, ".answer").textContent()) && !/Failed to fetch/.test(await page.textContent("body")));
  for (const view of ["Dashboard", "Documents"]) {
    await page.getByRole("link", { name: view }).click();
    await page.waitForTimeout(700);
    check("so does the view " + view, /cannot be reached/.test(await page.textContent("#trouble")) && await page.isVisible("#trouble"));
    if (view === "Dashboard") check("the dashboard says of when its figures are", /figures are those of/.test(await page.textContent("#dashboard-note")));
  }
  await accessible(page, "and it is accessible");
  await page.screenshot({ path: pictures + "/gone.png" });
  await relay.again();
  await until(page, () => document.getElementById("trouble").hidden && /\d documents?$/.test(document.getElementById("status").textContent));
  await until(page, () => /heron/.test(document.getElementById("documents-list").textContent));
  check("once it is back the page goes on by itself", true);
  await page.getByRole("link", { name: "Ask", exact: true }).click();
  await until(page, () => /holt/.test(document.querySelector(".turn:last-child .answer").textContent));
  check("and the question is asked again by itself", await page.locator(".turn").count() === 2 && await page.getByRole("button", { name: "Try again" }).count() === 0);
  await page.close();
  await relay.close();
}

async function busy({ browser, url, pictures }) {
  let full = true;
  let kept = null; // tells that the list of conversations may be had: it is slower than the refusal
  const late = new Promise((done) => { kept = done; });
  const relay = await between(url, (req, res) => {
    if (full && req.url === "/query") return refuse(req, res, 503, "too many requests wait already", { "Retry-After": "7" });
    if (!req.url.startsWith("/conversations")) return false;
    late.then(() => {
      res.writeHead(200, { "Content-Type": "application/json" });
      res.end(JSON.stringify({ data: [], has_more: false }));
    });
    return true;
  });
  const page = await browser.newPage();
  await open(page, relay.url);
  await page.fill("#question", "How tall is the grey heron?");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".turn .error");
  kept();
  await page.waitForTimeout(500);
  check("what was asked before the page had loaded all stays in sight", await page.locator(".turn .error").count() === 1);
  check("a busy service is told as one, with its wait", /The service is busy.* 7 seconds/.test(await last(page, ".foot .note").textContent()), await last(page, ".foot .note").textContent());
  await accessible(page, "that is accessible");
  await page.screenshot({ path: pictures + "/busy.png" });
  full = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await until(page, () => document.querySelector(".turn .chip"));
  check("and asked again when one wants", await page.locator(".turn").count() === 1);
  await page.close();
  await relay.close();
}

// A service with keys, as the page sees one: what has not the key gets 401, and what it may not do, 403.
async function keys({ browser, url, pictures }) {
  const KEY = "sk-forage-test", may = { read: true, ingest: false, admin: false, metrics: false, operate: false };
  const gate = await between(url, (req, res) => {
    if (req.url === "/" || req.url.startsWith("/assets/")) return false;
    if (req.headers.authorization !== "Bearer " + KEY) return refuse(req, res, 401, "an API key is needed", { "WWW-Authenticate": "Bearer" });
    if (req.url === "/session") {
      res.writeHead(200, { "Content-Type": "application/json" });
      res.end(JSON.stringify({ keys: true, key: "k_1", name: "ann", tenant: "default", read_only: false, max_document_bytes: 1, may }));
      return true;
    }
    return /^\/(stats|keys|analytics\/(memory|kv|queries|feedback))/.test(req.url) && refuse(req, res, 403, "this key lacks the scope");
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  await page.goto(gate.url);
  await page.waitForSelector("#key-dialog[open]");
  check("without a key the page asks for one", await page.evaluate(() => document.activeElement.id === "key"));
  await accessible(page, "the dialog is accessible");
  await page.screenshot({ path: pictures + "/key.png" });
  await page.fill("#key", "wrong");
  await page.keyboard.press("Enter");
  await until(page, () => /refused/.test(document.getElementById("key-note").textContent) && document.getElementById("key-dialog").open);
  check("a wrong key is asked for again", true);
  await page.fill("#key", KEY);
  await page.keyboard.press("Enter");
  await until(page, () => document.getElementById("collection").options.length > 0 && /document/.test(document.getElementById("status").textContent));
  await ask(page, "How tall is the grey heron?");
  check("with the key answers stream", /one metre/.test(await last(page, ".answer").textContent()));
  await page.getByRole("link", { name: "Documents" }).click();
  await page.waitForSelector("#documents-list .link");
  check("who may not write is offered nothing of it", await page.isHidden("#drop") && await page.isHidden("#make-collection") && await page.isHidden("#select-all") && await page.isHidden("#delete-collection"));
  await page.getByRole("link", { name: "Dashboard" }).click();
  await page.waitForSelector("#chart-ratio svg");
  check("who may not see what others asked is shown the rest", await page.isHidden("#hot") && await page.isHidden("#dashboard-note") && /\d/.test(await page.textContent("#figures")));
  await page.getByRole("link", { name: "Settings" }).click();
  await until(page, () => /made by an admin/.test(document.getElementById("keys-note").textContent));
  check("the settings say who one is and what one may", /ann/.test(await page.textContent("#you")) && /ask and read/.test(await page.textContent("#you")) && await page.isHidden("#limits"));
  check("the key is kept for the tab alone", await page.evaluate(() => sessionStorage.length === 1 && localStorage.length === 0 && !document.cookie));
  await page.reload();
  await until(page, () => /ann/.test(document.getElementById("you").textContent));
  check("a reload does not ask again", !(await page.evaluate(() => document.getElementById("key-dialog").open)));
  await page.getByRole("button", { name: "Forget the API key" }).click();
  await page.waitForSelector("#key-dialog[open]");
  check("it can be forgotten, and what it showed goes with it", await page.evaluate(() => sessionStorage.length === 0 && !document.querySelector(".turn") && !document.querySelector("#kept a")));
  await page.close();
  await gate.close();
}

// What the page makes of an answer that is written slowly: a stream with pauses, as a model writes.
async function slowly({ browser, url }) {
  const source = { document_id: "heron.txt", chunk_id: "heron.txt#0", title: "Heron", uri: null, start: 0, end: 37 };
  const citation = { index: 1, answer_span: { start: 0, end: 41 }, quote: "The grey heron stands one metre tall.", verified: true, source };
  const context = { ...source, text: "The grey heron stands one metre tall.", score: 0.7, scores: { dense: 0.6, sparse: 2, rerank: null } };
  const words = ["The grey [1] ", "heron stands ", "one metre tall", ". [1]\n\n| bird | tall |\n|---|---|\n| **heron** | `1 m` |\n\n- fish\n- frogs\n\n[a](http://x/) <b>no</b>\n\n```\nif (x) <i>\n```"];
  const whole = { model: "slow", answer: words.join(""), status: "answered", answer_source: "generated", citations: [citation], contexts: [context],
    usage: { prompt_tokens: 90, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 64 } }, cache: { answer: "miss" }, timings_ms: { prefill: 5, total: 9 },
    timings: { first_visible_ms: 4, total_ms: 9 }, tokens_per_s: 30 };
  let left = false, next = null; // the test says when the next event goes out
  const relay = await between(url, (req, res) => {
    if (req.url !== "/query") return false;
    req.resume();
    const events = [["contexts", { contexts: [context] }], ["draft", { answer: "One metre. [1]", citations: [{ ...citation, answer_span: { start: 0, end: 10 } }] }], ...words.map((text) => ["token", { text }]), ["citation", citation], ["done", whole]];
    res.writeHead(200, { "Content-Type": "text/event-stream" });
    next = () => {
      const [name, data] = events.shift();
      res.write("event: " + name + "\ndata: " + JSON.stringify(data) + "\n\n");
      if (!events.length) res.end();
    };
    res.on("close", () => { left = true; });
    next();
    return true;
  });
  const page = await browser.newPage();
  await open(page, relay.url);
  await page.fill("#question", "How tall is the grey heron?");
  await page.keyboard.press("Enter");
  await until(page, () => /Reading 1 passage…/.test(document.querySelector(".turn .note").textContent));
  check("passages are there before the answer", await page.locator(".contexts tr").count() === 1);
  check("a screen reader waits while it is written", await page.getAttribute(".answer", "aria-busy") === "true");
  next();
  await page.waitForSelector(".answer.draft .chip");
  check("the documents' own words stand there meanwhile", /^One metre/.test(await page.textContent(".answer")));
  await page.getByRole("link", { name: "Documents" }).click();
  await until(page, () => !document.getElementById("view-documents").hidden);
  await page.getByRole("link", { name: "Ask", exact: true }).click();
  await until(page, () => !document.getElementById("view-ask").hidden);
  check("who looks at another view meanwhile finds it still being written", await page.isVisible(".answer.draft") && !left);
  await page.fill("#question", "And what does it eat?");
  for (let i = 0; i < 3; i++) {
    next();
    await until(page, (text) => document.querySelector(".answer").textContent.trim() === text.trim(), words.slice(0, i + 1).join(""));
  }
  check("the answer takes their place token by token", await page.locator(".answer.draft").count() === 0);
  next();
  next();
  await page.waitForSelector(".answer .chip");
  check("brackets anywhere else are text", await page.locator(".answer .chip").count() === 1 && /grey \[1\] heron/.test(await page.textContent(".answer")));
  check("a table, a list, code and bold are such", await page.locator(".answer table strong").textContent() === "heron" && await page.locator(".answer td code").textContent() === "1 m" &&
    await page.locator(".answer ul li").count() === 2 && await page.locator(".answer pre code").textContent() === "if (x) <i>");
  check("a link and markup stay text", await page.locator(".answer a, .answer b, .answer i").count() === 0 && /\[a\]\(http:\/\/x\/\) <b>no<\/b>/.test(await page.textContent(".answer")));
  next();
  await until(page, () => document.getElementById("stop").hidden);
  check("what was typed while it was written is still there", await page.inputValue("#question") === "And what does it eat?");
  check("at the end it says who wrote and what was read", /written by slow/.test(await last(page, ".foot .note").textContent()) && /90 tokens read, 64 of them kept/.test(await page.textContent(".usage")));
  check("and the screen reader may read", await page.getAttribute(".answer", "aria-busy") === null);
  await accessible(page, "an answer of many kinds is accessible");
  left = false;
  await page.fill("#question", "Once more?");
  await page.keyboard.press("Enter");
  await until(page, () => /Reading/.test(document.querySelector(".turn:last-child .note").textContent));
  await page.click("#stop");
  await until(page, () => /Stopped/.test(document.querySelector(".turn:last-child .answer").textContent));
  for (let i = 0; i < 100 && !left; i++) await page.waitForTimeout(50);
  check("Stop ends it at the service too", left);
  await page.close();
  await relay.close();
}

// With a language model: tokens one by one, the pages of KV.
async function written({ browser, writer, pictures }) {
  const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
  await open(page, writer);
  await page.selectOption("#collection", "default");
  await ask(page, "How tall is the grey heron?");
  const note = await last(page, ".foot .note").textContent();
  check("an answer is written by the model, or says why not", /written by|not answered|documents' words/.test(note), note);
  await page.screenshot({ path: pictures + "/page-written.png" });
  await page.goto(writer + "/#dashboard");
  await page.waitForSelector("#kv-map rect");
  check("the map shows the pages of KV", /pages of \d+ tokens/.test(await page.textContent("#kv-map")) && await page.locator("#kv-map .page-f").count() > 0);
  await accessible(page, "the map is accessible");
  await page.close();
}

exports.stories = async (on) => {
  await gone(on);
  await busy(on);
  await keys(on);
  await slowly(on);
  if (on.writer) await written(on);
};
