// The web page as a reader uses it, in a real browser. Run by ../page_test.sh:
//     node page.js URL CHROMIUM FOLDER [URL of a service with a language model]
"use strict";
const fs = require("fs");
const http = require("http");
const { launch } = require("./browser.js");
const { audit } = require("./access.js");
const [url, executablePath, pictures, writer] = process.argv.slice(2);

let n = 0;
function check(sentence, holds, why) {
  n++;
  console.log((holds ? "ok " : "not ok ") + n + " - " + sentence + (holds || why === undefined ? "" : ": " + why));
}

const wrong = []; // what the console said
function listen(page) {
  page.setDefaultTimeout(150000);
  page.on("console", (m) => m.type() === "error" && !/401 \(Unauthorized\)/.test(m.text()) && wrong.push(m.text()));
  page.on("pageerror", (e) => wrong.push(e.message));
  return page;
}

const until = (page, f, arg) => page.waitForFunction(f, arg, { timeout: 150000 });
const settled = () => / ms$/.test(document.getElementById("answer-note").textContent);

async function ask(page, text) {
  await page.evaluate(() => { document.getElementById("answer-note").textContent = ""; });
  await page.fill("#question", text);
  await page.keyboard.press("Enter");
  await until(page, settled);
}

async function open(page, at) {
  await page.goto("about:blank"); // a new hash alone loads nothing
  await page.goto(at);
  await until(page, () => document.getElementById("collection").options.length > 0);
}

const oneLine = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility())
  .filter((e) => { // the lines of its text, one rectangle each
    const r = document.createRange();
    r.selectNodeContents(e);
    return new Set([...r.getClientRects()].map((b) => Math.round(b.top))).size > 1;
  }).map((e) => e.textContent);

// A home without documents says how to add some, and asks nothing in vain.
async function nothing(browser) {
  const page = listen(await browser.newPage({ viewport: { width: 390, height: 844 } }));
  await open(page, url + "/#ask");
  await page.waitForSelector("#nothing-yet");
  check("an empty home says how to add documents", (await page.textContent("#nothing-yet")).includes("forage ingest FOLDER --url " + url) && await page.locator("#nothing-yet a[href='#documents']").count() === 1);
  await page.fill("#question", "How tall is the grey heron?");
  await page.keyboard.press("Enter");
  await page.waitForTimeout(500);
  check("and says it again instead of an error when asked", await page.isVisible("#nothing-yet") && await page.isHidden("#answer") && !/does not exist/.test(await page.textContent("main")));
  let found = await page.evaluate(audit);
  check("that is accessible", found.length === 0, found.join("; "));
  await page.screenshot({ path: pictures + "/phone-nothing.png" });
  await page.locator("#nothing-yet a").click();
  await until(page, () => /no documents here yet/.test(document.getElementById("documents-list").textContent));
  check("the lists say that they are empty", /None yet/.test(await page.textContent("#collections")));
  found = await page.evaluate(audit);
  check("they are accessible", found.length === 0, found.join("; "));
  await page.close();
}

// The service goes away and comes back.
async function gone(browser) {
  const relay = () => http.createServer((req, res) => {
    const to = http.request(url + req.url, { method: req.method, headers: req.headers }, (r) => {
      res.writeHead(r.statusCode, r.headers);
      r.pipe(res);
    });
    to.on("error", () => res.destroy());
    req.pipe(to);
  });
  const listenOn = (s, port) => new Promise((done) => s.listen(port, "127.0.0.1", done));
  let service = relay();
  await listenOn(service, 0);
  const { port } = service.address();
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  page.on("pageerror", (e) => wrong.push(e.message)); // what the console says of it is the browser's
  await open(page, "http://127.0.0.1:" + port);
  await ask(page, "How tall is the grey heron?");
  await page.getByRole("link", { name: "Dashboard" }).click();
  await page.waitForSelector("#chart-ratio svg .dot");
  await page.getByRole("link", { name: "Ask", exact: true }).click();
  service.closeAllConnections();
  await new Promise((done) => service.close(done));
  await page.fill("#question", "Where does the otter sleep?");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#answer-text .error");
  const said = await page.textContent("body");
  check("with the service gone an answer says so in words", /cannot be reached/.test(await page.textContent("#answer-text")) && !/Failed to fetch/.test(said), await page.textContent("#answer-text"));
  for (const view of ["Dashboard", "Documents"]) {
    await page.getByRole("link", { name: view }).click();
    await page.waitForTimeout(700);
    check("so does the view " + view, /cannot be reached/.test(await page.textContent("#trouble")) && await page.isVisible("#trouble") && !/Failed to fetch/.test(await page.textContent("body")));
    if (view === "Dashboard") check("the dashboard says of when its figures are", /figures are those of/.test(await page.textContent("#dashboard-note")));
    await page.screenshot({ path: pictures + "/gone-" + view.toLowerCase() + ".png" });
  }
  const found = await page.evaluate(audit);
  check("and it is accessible", found.length === 0, found.join("; "));
  service = relay();
  await listenOn(service, port);
  await until(page, () => document.getElementById("trouble").hidden && /\d documents?$/.test(document.getElementById("status").textContent));
  await until(page, () => /heron/.test(document.getElementById("documents-list").textContent));
  check("once it is back the page goes on by itself", true);
  await page.close();
  service.closeAllConnections();
  service.close();
}

async function reading(page) {
  await open(page, url);
  await page.getByRole("link", { name: "Documents" }).click();
  check("the view's heading has the focus", await until(page, () => document.activeElement.id === "upload-title").then(() => true));
  fs.writeFileSync(pictures + "/heron.txt", "The grey heron stands one metre tall. It eats fish and frogs.\n\nHerons nest in colonies.\n");
  fs.writeFileSync(pictures + "/otter <img src=x onerror=alert(1)>.md", "# The otter\n\nThe otter sleeps in a holt. <script>alert(1)</script><b>Wet</b>\n");
  await page.setInputFiles("#files", fs.readdirSync(pictures).filter((f) => !f.endsWith(".png")).map((f) => pictures + "/" + f));
  await page.getByRole("button", { name: "Upload" }).click();
  await until(page, () => /2 of 2 documents/.test(document.getElementById("upload-note").textContent));
  await page.waitForSelector("#documents-list tr");
  check("uploaded documents are in the list", /heron/.test(await page.textContent("#documents-list")));

  await page.getByRole("link", { name: "Ask", exact: true }).click();
  await ask(page, "How tall is the grey heron?");
  check("the answer is streamed with a chip for its source", /one metre/.test(await page.textContent("#answer-text")) && await page.locator("#answer-text .chip").count() > 0);
  await page.locator("#answer-text .chip").first().click();
  await page.waitForSelector("#reader-text mark");
  check("a chip opens the source with the passage marked", /one metre/.test(await page.textContent("#reader-text mark")));
  await page.locator("#details summary").click();
  check("contexts show their scores", /^\d\.\d{3}$/.test(await page.textContent("#contexts td.number")));
  check("stages show their times", /sparse/.test(await page.textContent("#timings")) && /total/.test(await page.textContent("#timings")) && await page.locator("#timings rect").count() > 2);
  await page.screenshot({ path: pictures + "/page-ask.png", fullPage: true });
  await ask(page, "How tall is the grey heron?");
  check("asked again, it comes from memory", /from memory/.test(await page.textContent("#answer-note")));
  check("how far the documents bear it out is said in a word", /· (well |weakly )?supported ·/.test(await page.textContent("#answer-note")), await page.textContent("#answer-note"));
  await ask(page, "and what does it eat?");
  check("a follow-up is understood", /fish and frogs/.test(await page.textContent("#answer-text")), await page.textContent("#answer-text"));
  check("the turn before it stands below, its chips too", /How tall is the grey heron/.test(await page.textContent("#thread li:first-child .asked")) && /one metre/.test(await page.textContent("#thread")) && await page.locator("#thread .chip").count() > 0);
  await page.screenshot({ path: pictures + "/page-conversation.png", fullPage: true });
  await page.locator("#thread .chip").first().click();
  await page.waitForSelector("#reader-text mark");
  check("and open their source", /one metre/.test(await page.textContent("#reader-text mark")));
  await page.getByRole("button", { name: "New conversation" }).click();
  check("a new conversation starts empty", await page.isHidden("#earlier") && await page.isHidden("#answer") && await page.locator("#thread li").count() === 0 && await page.inputValue("#question") === "");
  await ask(page, "Who invented the zeppelin engine?");
  check("what the documents lack is not answered", /abstained/.test(await page.textContent("#answer-note")));
  await ask(page, "Where does the otter sleep?");
  await page.locator("#sources button").first().click();
  await page.waitForSelector("#reader-text mark");
  check("markup in documents and names stays text", /<img src=x/.test(await page.textContent("main")) && await page.locator("main img, main script, main b").count() === 0);
}

async function keyboard(page) {
  await open(page, url + "/#ask");
  await page.keyboard.press("Tab");
  check("the first stop is the way past the header", await page.evaluate(() => document.activeElement.className === "skip"));
  await page.keyboard.press("Enter");
  const stops = [];
  for (let i = 0; i < 5; i++) {
    await page.keyboard.press("Tab");
    stops.push(await page.evaluate(() => document.activeElement.id || document.activeElement.textContent));
  }
  check("then comes the form in its order", stops.join() === "question,collection,mode,top-k,Ask", stops.join());
  await page.focus("#question");
  await page.keyboard.type("How tall is the grey heron?");
  await page.keyboard.press("Enter");
  await until(page, settled);
  for (let i = 0; i < 12 && !(await page.evaluate(() => document.activeElement.matches(".chip"))); i++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#reader-text mark");
  check("the source opens by keyboard and has the focus", await page.evaluate(() => document.activeElement.id === "reader-text"));
  await page.keyboard.press("Escape");
  check("Escape closes it and gives the focus back", await page.evaluate(() => document.activeElement.matches(".chip")) && await page.isHidden("#reader"));
  check("every stop shows where it is", await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle !== "none"));
}

async function dashboard(page) {
  await open(page, url + "/#dashboard");
  await page.waitForSelector("#chart-ratio svg .dot");
  // the log is written each second; wait for what was asked above
  for (let i = 0; i < 60 && !/of 5$/.test(await page.locator("#figures dd").nth(3).textContent()); i++) {
    await page.waitForTimeout(500);
    await page.selectOption("#window", i % 2 ? "1h 1m" : "24h 15m");
  }
  await page.selectOption("#window", "1h 1m");
  await page.waitForSelector("#chart-latency svg .dot");
  check("the dashboard shows the hits that were made", /20\.0 % of 5$/.test(await page.locator("#figures dd").nth(3).textContent()), await page.textContent("#figures"));
  const layers = await page.locator("#layers tbody tr td:first-child").allTextContents();
  check("all five cache layers are there", layers.join() === "answers,retrieval,KV prefix,KV chunk,KV disk", layers.join());
  check("hot and unanswered questions are named", /grey heron/.test(await page.textContent("#hot")) && /zeppelin/.test(await page.textContent("#unanswered")));
  check("slow ones too", /zeppelin|heron|otter/.test(await page.textContent("#slow")));
  check("latency has a stage to choose", (await page.locator("#stage option").allTextContents()).includes("sparse"));
  await page.selectOption("#stage", "sparse");
  await until(page, () => /stage sparse/.test(document.querySelector("#chart-latency figcaption").textContent));
  await page.selectOption("#stage", "total");
  await until(page, () => /stage total/.test(document.querySelector("#chart-latency figcaption").textContent));
  check("memory has a line", await page.locator("#chart-memory svg .dot").count() > 0);
  check("without a language model there is no map of pages", /No language model/.test(await page.textContent("#kv-map")));
  check("a chart says in words what it shows", /Hit ratio.*answers 20\.0 %/.test(await page.getAttribute("#chart-ratio svg[role=img]", "aria-label")), await page.getAttribute("#chart-ratio svg[role=img]", "aria-label"));
  await page.locator("#chart-ratio summary").click();
  check("and gives its figures as a table", /20\.0 %/.test(await page.textContent("#chart-ratio table")));
  await page.locator("#chart-ratio summary").click();
  await page.screenshot({ path: pictures + "/page-dashboard.png", fullPage: true });
}

async function accessible(browser) {
  for (const colorScheme of ["light", "dark"]) {
    const page = listen(await browser.newPage({ viewport: { width: 1000, height: 900 }, colorScheme }));
    await open(page, url + "/#ask");
    await ask(page, "How tall is the grey heron?");
    await page.locator("#answer-text .chip").first().click();
    await page.waitForSelector("#reader-text mark");
    await page.locator("#details summary").click();
    let found = await page.evaluate(audit);
    check("asking is accessible in " + colorScheme, found.length === 0, found.join("; "));
    await page.goto(url + "/#documents");
    await page.waitForSelector("#documents-list tr");
    found = await page.evaluate(audit);
    check("documents are accessible in " + colorScheme, found.length === 0, found.join("; "));
    await page.goto(url + "/#dashboard");
    await page.waitForSelector("#chart-ratio svg .dot");
    found = await page.evaluate(audit);
    check("the dashboard is accessible in " + colorScheme, found.length === 0, found.join("; "));
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    check("the ground is " + colorScheme, (colorScheme === "dark") === /rgb\([0-4]?\d, /.test(ground), ground);
    if (colorScheme === "dark") await page.screenshot({ path: pictures + "/page-dark.png" });
    await page.close();
  }
}

async function phone(browser) {
  const page = listen(await browser.newPage({ viewport: { width: 390, height: 844 } }));
  for (const width of [390, 360]) for (const view of ["ask", "documents", "dashboard"]) {
    await page.setViewportSize({ width, height: 844 });
    await open(page, url + "/#" + view);
    if (view === "ask") await ask(page, "How tall is the grey heron?");
    if (view === "documents") await page.waitForSelector("#documents-list tr");
    if (view === "dashboard") await page.waitForSelector("#chart-ratio svg .dot");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(width + " pixels show the view " + view + " without scrolling sideways", wide <= 0, wide + " pixels too wide");
    const broken = await page.evaluate(oneLine, "nav a, th:not(:has(.unseen)), #collections button, #documents-list button, #layers tr:first-child td:first-child");
    check("and break no label", broken.length === 0, broken.join("; "));
    await page.screenshot({ path: pictures + "/phone-" + view + ".png" });
  }
  await page.close();
}

// Dropped files go in, and what is there can be deleted.
async function documents(browser) {
  const page = listen(await browser.newPage());
  page.on("dialog", (d) => d.accept());
  await open(page, url + "/#documents");
  await page.fill("#upload-collection", "dropped");
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File(["The bittern booms in the reeds."], "bittern.txt", { type: "text/plain" }));
    data.items.add(new File(["The stork nests on roofs."], "stork.txt", { type: "text/plain" }));
    const at = document.getElementById("drop");
    at.dispatchEvent(new DragEvent("dragover", { bubbles: true, cancelable: true, dataTransfer: data }));
    if (!at.classList.contains("over")) throw new Error("nothing shows that it may be dropped");
    at.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
  });
  await until(page, () => /2 of 2 documents/.test(document.getElementById("upload-note").textContent));
  await page.selectOption("#list-collection", "dropped");
  await until(page, () => document.querySelectorAll("#documents-list tr").length === 2 && /bittern/.test(document.getElementById("documents-list").textContent));
  check("dropped files are documents", true);
  await page.getByRole("button", { name: "Delete bittern.txt" }).click();
  await until(page, () => document.querySelectorAll("#documents-list tr").length === 1);
  check("a document can be deleted", /stork/.test(await page.textContent("#documents-list")));
  await page.getByRole("button", { name: /^Delete collection dropped/ }).click();
  await until(page, () => !/dropped/.test(document.getElementById("collections").textContent));
  check("and so can a collection", true);
  await page.close();
}

// A service with keys, as the page sees one: what has not the key gets 401.
async function keys(browser) {
  const KEY = "sk-forage-test";
  const gate = http.createServer((req, res) => {
    const free = req.url === "/" || req.url.startsWith("/assets/");
    if (!free && req.headers.authorization !== "Bearer " + KEY) {
      req.resume();
      res.writeHead(401, { "Content-Type": "application/json", "WWW-Authenticate": "Bearer" });
      res.end('{"error":{"type":"authentication_error","code":"invalid_api_key","message":"an API key is needed"}}');
      return;
    }
    const to = http.request(url + req.url, { method: req.method, headers: req.headers }, (r) => {
      res.writeHead(r.statusCode, r.headers);
      r.pipe(res);
    });
    to.on("error", () => res.destroy());
    req.pipe(to);
  });
  await new Promise((done) => gate.listen(0, "127.0.0.1", done));
  const page = listen(await browser.newPage());
  await page.goto("http://127.0.0.1:" + gate.address().port);
  await page.waitForSelector("#key-dialog[open]");
  check("where keys are on, the page asks for one", await page.evaluate(() => document.activeElement.id === "key"));
  const found = await page.evaluate(audit);
  check("the dialog is accessible", found.length === 0, found.join("; "));
  await page.fill("#key", "wrong");
  await page.keyboard.press("Enter");
  await until(page, () => /refused/.test(document.getElementById("key-note").textContent) && document.getElementById("key-dialog").open);
  check("a wrong key is asked for again", true);
  await page.fill("#key", KEY);
  await page.keyboard.press("Enter");
  await until(page, () => document.getElementById("collection").options.length > 0);
  await ask(page, "How tall is the grey heron?");
  check("with the key answers stream", /one metre/.test(await page.textContent("#answer-text")));
  await page.getByRole("link", { name: "Documents" }).click();
  await page.setInputFiles("#files", pictures + "/heron.txt");
  await page.getByRole("button", { name: "Upload" }).click();
  await until(page, () => /1 of 1 documents/.test(document.getElementById("upload-note").textContent));
  check("and documents go up", true);
  check("the key is kept for the tab alone", await page.evaluate(() => sessionStorage.length === 1 && localStorage.length === 0 && !document.cookie));
  await page.reload();
  await until(page, () => document.getElementById("collection").options.length > 0);
  check("a reload does not ask again", !(await page.evaluate(() => document.getElementById("key-dialog").open)));
  await page.getByRole("button", { name: "Forget the API key" }).click();
  check("it can be forgotten", await page.evaluate(() => sessionStorage.length === 0));
  await page.close();
  gate.closeAllConnections();
  gate.close();
}

// What the page makes of an answer that is written slowly: a stream with pauses, as a model writes.
async function slowly(browser) {
  const source = { document_id: "heron.txt", chunk_id: "heron.txt#0", title: "Heron", uri: null, start: 0, end: 37 };
  const citation = { index: 1, answer_span: { start: 0, end: 41 }, quote: "The grey heron stands one metre tall.", verified: true, source };
  const context = { ...source, text: "The grey heron stands one metre tall.", score: 0.7, scores: { dense: 0.6, sparse: 2, rerank: null } };
  const words = ["The grey [1] ", "heron stands ", "one metre tall", ". [1]"];
  const whole = { model: "slow", answer: words.join(""), status: "answered", answer_source: "generated", citations: [citation], contexts: [context],
    usage: { prompt_tokens: 90, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 64 } }, cache: { answer: "miss" }, timings_ms: { prefill: 5, total: 9 },
    timings: { first_visible_ms: 4, total_ms: 9 }, tokens_per_s: 30 };
  let left = false, next = null; // the test says when the next event goes out
  const service = http.createServer((req, res) => {
    if (req.url !== "/query") {
      http.request(url + req.url, { method: req.method, headers: req.headers }, (r) => {
        res.writeHead(r.statusCode, r.headers);
        r.pipe(res);
      }).end();
      return;
    }
    const events = [["contexts", { contexts: [context] }], ["draft", { answer: "One metre. [1]", citations: [{ ...citation, answer_span: { start: 0, end: 10 } }] }], ...words.map((text) => ["token", { text }]), ["citation", citation], ["done", whole]];
    res.writeHead(200, { "Content-Type": "text/event-stream" });
    next = () => {
      const [name, data] = events.shift();
      res.write("event: " + name + "\ndata: " + JSON.stringify(data) + "\n\n");
      if (!events.length) res.end();
    };
    res.on("close", () => { left = true; });
    next();
  });
  await new Promise((done) => service.listen(0, "127.0.0.1", done));
  const page = listen(await browser.newPage());
  await open(page, "http://127.0.0.1:" + service.address().port);
  await page.fill("#question", "How tall is the grey heron?");
  await page.keyboard.press("Enter");
  await until(page, () => /Reading 1 passages/.test(document.getElementById("answer-note").textContent));
  check("contexts are there before the answer", await page.locator("#contexts tr").count() === 1 && await page.isVisible("#evidence"));
  check("a screen reader waits while it is written", await page.getAttribute("#answer", "aria-busy") === "true");
  next();
  await page.waitForSelector("#answer-text.draft .chip");
  check("the documents' own words stand there meanwhile", /^One metre/.test(await page.textContent("#answer-text")));
  const seen = [];
  for (let i = 0; i < words.length; i++) {
    next();
    const so_far = words.slice(0, i + 1).join("");
    await until(page, (text) => document.getElementById("answer-text").textContent === text, so_far);
    seen.push(so_far);
  }
  check("the answer takes their place token by token", seen.length === 4 && await page.locator("#answer-text.draft").count() === 0);
  next();
  await page.waitForSelector("#answer-text .chip");
  check("a citation becomes a chip as it comes", await page.textContent("#answer-text .chip") === "1");
  check("brackets anywhere else are text", await page.locator("#answer-text .chip").count() === 1 && /grey \[1\] heron/.test(await page.textContent("#answer-text")));
  next();
  await until(page, settled);
  check("at the end it says who wrote and what was read", /written by slow/.test(await page.textContent("#answer-note")) && /90 tokens read, 64 of them kept/.test(await page.textContent("#usage")));
  check("and the screen reader may read", await page.getAttribute("#answer", "aria-busy") === null);
  left = false;
  await page.click("#ask-form button[type=submit]");
  await until(page, () => /Reading/.test(document.getElementById("answer-note").textContent));
  await page.click("#stop");
  await until(page, () => document.getElementById("answer-note").textContent === "Stopped.");
  for (let i = 0; i < 100 && !left; i++) await page.waitForTimeout(50);
  check("Stop ends it at the service too", left);
  await page.close();
  service.closeAllConnections();
  service.close();
}

// With a language model: tokens one by one, the pages of KV, an answer that is stopped.
async function written(browser) {
  const page = listen(await browser.newPage({ viewport: { width: 1000, height: 900 } }));
  await open(page, writer);
  await page.evaluate(() => {
    window.lengths = [];
    new MutationObserver(() => {
      const l = document.getElementById("answer-text").textContent.length;
      if (l && l !== window.lengths[window.lengths.length - 1]) window.lengths.push(l);
    }).observe(document.getElementById("answer-text"), { childList: true, subtree: true });
  });
  await page.selectOption("#mode", "sparse");
  await ask(page, "How tall is the grey heron?");
  const note = await page.textContent("#answer-note");
  check("an answer is written by the model, or says why not", /written by|abstained|extractive/.test(note), note);
  if (/written by/.test(note)) check("it grew as it was written", await page.evaluate(() => window.lengths.length >= 3), await page.evaluate(() => window.lengths.join()));
  check("what was read and written is told", /tokens read/.test(await page.textContent("#usage")) || !/written by/.test(note));
  await page.screenshot({ path: pictures + "/page-written.png", fullPage: true });
  await page.goto(writer + "/#dashboard");
  await page.waitForSelector("#kv-map rect");
  check("the map shows the pages of KV", /pages of \d+ tokens/.test(await page.textContent("#kv-map")) && await page.locator("#kv-map .page-f").count() > 0);
  const found = await page.evaluate(audit);
  check("the map is accessible", found.length === 0, found.join("; "));
  await page.locator("#kv-map").scrollIntoViewIfNeeded();
  await page.screenshot({ path: pictures + "/page-kv.png" });
  await page.close();
}

(async () => {
  const browser = await launch(executablePath);
  const reply = await fetch(url);
  const policy = reply.headers.get("content-security-policy") || "";
  check("the policy lets nothing in but the service's own files", /default-src 'none'/.test(policy) && !/unsafe|https?:|\*/.test(policy), policy);
  const page = listen(await browser.newPage({ viewport: { width: 1000, height: 900 } }));
  await nothing(browser);
  await reading(page);
  await dashboard(page);
  await keyboard(page);
  await page.close();
  await accessible(browser);
  await phone(browser);
  await documents(browser);
  await gone(browser);
  await keys(browser);
  await slowly(browser);
  if (writer) await written(browser);
  check("nothing went wrong on the console", wrong.length === 0, wrong.join("; "));
  console.log("1.." + n);
  await browser.close();
})().catch((e) => {
  console.log("not ok " + (n + 1) + " - " + e.message.split("\n").slice(0, 3).join(" "));
  process.exit(1);
});
