// Stories of what goes wrong on the way: a service that is busy when the page begins, goes away while files go in, or gives
// no more documents; a conversation that is deleted while it is being kept, or that another program wrote.
"use strict";
const { between, refuse } = require("./between.js");
const { ask, check, last, open, saved, until } = require("./stories.js");

const busy = (req, res) => refuse(req, res, 429, "this address may have 5 requests a second; try again in 1 s", { "Retry-After": "1" });
const api = (url, method, path, body) => fetch(url + path, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }).then((r) => r.json());
const inView = (page, view) => page.waitForSelector("#view-" + view + ":not([hidden])");

async function begins({ browser, url }) {
  for (const what of ["/session", "/collections", "/conversations"]) {
    let refused = 0;
    const relay = await between(url, (req, res) => req.url.startsWith(what) && !refused++ && busy(req, res));
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    await page.goto(relay.url);
    const there = await page.waitForFunction(() => document.querySelector("#kept a") && /^\d+ documents?$/.test(document.getElementById("status").textContent), null, { timeout: 20000 }).then(() => true, () => false);
    check("a page that begins while the service is busy goes on by itself: " + what, there && refused > 0, await page.textContent("#status"));
    await page.close();
    await relay.close();
  }
  let away = true;
  const relay = await between(url, (req, res) => away && /^\/(session|collections|documents)/.test(req.url) && busy(req, res));
  const page = await browser.newPage();
  await page.goto(relay.url + "/#documents");
  await inView(page, "documents");
  await page.waitForTimeout(500);
  check("as long as nothing is known of documents, none are said to be missing or offered", !/no documents/.test(await page.textContent("#documents-list")) && await page.isHidden("#delete-collection") && /They go into \w+/.test(await page.textContent("#drop")), await page.textContent("#view-documents"));
  await page.goto(relay.url + "/#settings");
  await until(page, () => document.getElementById("keys-note").textContent);
  check("nor keys to be made, as long as it is not known who asks", await page.isHidden("#make-key") && await page.isHidden("#keys-scroll"));
  await page.goto(relay.url + "/#ask");
  await page.fill("#question", "How tall is the grey heron?");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".turn .chip", { timeout: 20000 }).catch(() => {});
  check("and a question is answered all the same", await page.locator(".turn .chip").count() > 0, await page.textContent("#thread"));
  away = false;
  await page.close();
  await relay.close();
}

// The page believes that there is nothing to ask about, and cannot learn otherwise.
async function nothingKnown({ browser, url }) {
  let asked = 0;
  const relay = await between(url, (req, res) => {
    if (req.url !== "/collections") return false;
    if (asked++) return refuse(req, res, 503, "too many requests wait already; try again");
    res.writeHead(200, { "Content-Type": "application/json" });
    res.end(JSON.stringify({ data: [] }));
    return true;
  });
  const page = await browser.newPage();
  await open(page, relay.url);
  await page.waitForSelector("#nothing-yet:not([hidden])");
  await page.fill("#question", "How tall is the grey heron?");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".turn .chip", { timeout: 20000 }).catch(() => {});
  check("what is not known to be empty is not said to be", !/no documents/.test(await page.textContent("#told")) && await page.locator(".turn .chip").count() > 0, await page.textContent("#told"));
  await page.close();
  await relay.close();
}

async function more({ browser, url }) {
  await api(url, "POST", "/ingest", { collection: "many", documents: Array.from({ length: 120 }, (_, i) => ({ id: "m" + i, title: "M" + i, text: "The number " + i + " is here." })) });
  let full = false, hold = null;
  const relay = await between(url, (req, res) => (!req.url.startsWith("/documents?") ? false : full ? busy(req, res) : hold && /collection=default/.test(req.url) ? hold : false));
  const page = await browser.newPage();
  await open(page, relay.url + "/#documents");
  await page.getByRole("button", { name: /^many/ }).click();
  await until(page, () => document.querySelectorAll("#documents-list input").length === 50);
  full = true;
  for (let i = 0; i < 2; i++) {
    await page.click("#more");
    await page.waitForTimeout(400);
  }
  check("why no more documents come is said once", await page.locator("#documents-list .error").count() === 1 && await page.locator("#documents-list input").count() === 50);
  full = false;
  await page.click("#more");
  await until(page, () => document.querySelectorAll("#documents-list input").length === 100);
  check("and no longer once they are there", await page.locator("#documents-list .error").count() === 0);
  check("the first of those that came has the focus", await until(page, () => document.activeElement === document.querySelectorAll("#documents-list button")[50]).then(() => true));
  full = true;
  await page.fill("#find-text", "M1");
  await page.waitForSelector("#documents-list .error");
  check("of a list that is not there no more is offered or counted", await page.isHidden("#more") && await page.textContent("#list-note") === "", await page.textContent("#list-note"));
  full = false;
  await page.fill("#find-text", "");
  await until(page, () => document.querySelectorAll("#documents-list input").length === 50);
  let go = null;
  hold = new Promise((done) => { go = done; });
  await page.getByRole("button", { name: /^default/ }).click();
  check("rows of another collection do not stand under this one's name, to be deleted in it", /Documents in default/.test(await page.textContent("#list-title")) && await page.locator("#documents-list input").count() === 0);
  go(false);
  await page.waitForSelector("#documents-list input");
  await page.click("#make-collection");
  await page.fill("#asks input", "many");
  await page.click("#asks-yes");
  await page.waitForTimeout(500);
  check("a collection that is there is not said to be made", await page.isVisible("#asks") && /already/.test(await page.textContent("#asks-error")), await page.textContent("#told"));
  await page.close();
  await relay.close();
  await fetch(url + "/collections/many", { method: "DELETE" });
}

async function goneMeanwhile({ browser, url }) {
  const relay = await between(url, () => false);
  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  page.removeAllListeners("console"); // what the browser says of it is its own
  await open(page, relay.url + "/#documents");
  await relay.close();
  await page.setInputFiles("#files", [1, 2, 3, 4, 5].map((i) => ({ name: "pond" + i + ".txt", mimeType: "text/plain", buffer: Buffer.from("Pond number " + i + " has newts.") })));
  await until(page, () => /, 5 could not be sent/.test(document.getElementById("upload-note").textContent));
  await relay.again();
  const went = await page.waitForFunction(() => /^5 files are in and can be asked about\.$/.test(document.getElementById("upload-note").textContent), null, { timeout: 30000 }).then(() => true, () => false);
  check("files that did not reach the service go in by themselves once it is back, as the page says", went && await page.locator("#upload-results button").count() === 0, await page.textContent("#uploads"));
  await page.close();
  await relay.close();
  for (let i = 1; i <= 5; i++) await fetch(url + "/documents/pond" + i + ".txt", { method: "DELETE" });
}

// An answer waits to be kept, because the service is busy, and its conversation is deleted meanwhile.
async function deleted({ browser, url }) {
  let full = false;
  const relay = await between(url, (req, res) => full && req.method === "PUT" && refuse(req, res, 429, "one at a time", { "Retry-After": "10" }));
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  await open(page, relay.url);
  await ask(page, "How tall is the grey heron?");
  await until(page, () => /^#ask\/c_/.test(location.hash));
  const before = (await (await fetch(url + "/conversations")).json()).data.length;
  full = true;
  await page.fill("#question", "What does it eat?");
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelectorAll(".turn").length === 2 && document.querySelector(".turn:last-child .acts button"));
  await page.getByRole("button", { name: "Delete the conversation" }).click();
  full = false;
  await page.click("#asks-yes");
  await until(page, () => document.getElementById("told").textContent === "Deleted.");
  await page.waitForTimeout(1500);
  const after = (await (await fetch(url + "/conversations")).json()).data.length;
  check("a conversation that is deleted while an answer waits to be kept does not come back", after === before - 1 && await page.textContent("#told") === "Deleted.", after + " of " + before + ", " + await page.textContent("#told"));
  await page.close();
  await relay.close();
}

// The reply of a turn is what a client of the API likes it to be.
async function written({ browser, url }) {
  const source = { document_id: "heron.txt" }, wrong = [];
  const replies = [{ citations: [{}] }, { citations: "x" }, { contexts: [null] }, { contexts: [{ document_id: "a", score: "high", scores: { dense: "1" } }] }, { timings_ms: { total: "x" } },
    { status: "answered", support: "1", usage: { prompt_tokens: 3 }, tokens_per_s: "9" }, { short_answer: { start: 4e8, end: 4e8 + 1 } },
    { citations: [{ index: 1, answer_span: { start: 0, end: 11 }, quote: null, source: null }, { index: 1, answer_span: { start: 0, end: 11 }, quote: "so", source }] }];
  const { id } = await api(url, "POST", "/conversations", { title: "\u0939\u093f\u0928\u094d\u0926\u0940 / ?" });
  for (const [i, reply] of replies.entries()) await api(url, "PUT", "/conversations/" + id + "/turns/" + i, { question: "What " + i + "?", answer: "That is so. [1]", reply });
  const page = await browser.newPage();
  page.on("pageerror", (e) => wrong.push(e.message));
  await open(page, url + "/#ask/" + id);
  await page.waitForFunction((n) => document.querySelectorAll(".turn .answer p").length === n, replies.length, { timeout: 20000 }).catch(() => {});
  check("a conversation that another program wrote is shown, whatever its replies are", wrong.length === 0 && await page.isVisible("#thread") && await page.locator(".turn .answer p").count() === replies.length, wrong.join("; "));
  check("with the citations in it that are sound", await page.locator(".turn .chip").count() === 1 && await last(page, ".chip").count() === 1);
  const file = await saved(page, () => page.getByRole("button", { name: "Export the conversation" }).click({ timeout: 5000 })).catch(() => ({}));
  check("it is exported under its title, marks and all", file.name === "\u0939\u093f\u0928\u094d\u0926\u0940.md" && /What 7\?/.test(file.text), file.name);
  await page.close();
  const bare = await api(url, "POST", "/conversations", { title: "???" });
  await api(url, "PUT", "/conversations/" + bare.id + "/turns/0", { question: "???", answer: "So." });
  const other = await browser.newPage();
  await open(other, url + "/#ask/" + bare.id);
  await other.waitForSelector(".turn");
  check("or, where no system would take that, as a conversation", (await saved(other, () => other.getByRole("button", { name: "Export the conversation" }).click())).name === "conversation.md");
  await other.close();
  for (const c of [id, bare.id]) await fetch(url + "/conversations/" + c, { method: "DELETE" });
}

// A folder is looked at: its button rests meanwhile, and is made anew with its row.
async function folders({ browser, url }) {
  let state = "idle", asked = 0;
  const relay = await between(url, (req, res) => {
    if (!req.url.startsWith("/sources")) return false;
    if (req.method === "POST") {
      asked++;
      state = "running";
    }
    res.writeHead(200, { "Content-Type": "application/json" });
    res.end(JSON.stringify({ data: [{ name: "notes", collection: "default", path: "/notes", state, watched: false, configured: true, documents: 1, finished_at: null }] }));
    return true;
  });
  const page = await browser.newPage();
  await open(page, relay.url + "/#documents");
  const button = page.getByRole("button", { name: "Sync notes now" });
  await button.press("Enter");
  await until(page, () => /running/.test(document.getElementById("folders").textContent));
  const stays = () => page.evaluate(() => document.activeElement.textContent === "Sync now");
  check("who has a folder looked at by keyboard stays at its button", await stays());
  await button.press("Enter");
  check("which does nothing while it runs", asked === 1 && await button.getAttribute("aria-disabled") === "true");
  state = "idle";
  await until(page, () => /idle/.test(document.getElementById("folders").textContent));
  check("and again once it is over", await stays() && await button.getAttribute("aria-disabled") === "false");
  await page.close();
  await relay.close();
}

exports.stories = async (on) => {
  await begins(on);
  await nothingKnown(on);
  await more(on);
  await folders(on);
  await goneMeanwhile(on);
  await deleted(on);
  await written(on);
};
