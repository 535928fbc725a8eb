// Stories of conversations that are kept: found, opened, renamed, shared, exported, deleted, gone on with.
"use strict";
const { between } = require("./between.js");
const { accessible, ask, check, last, open, saved, until } = require("./stories.js");

const titles = () => [...document.querySelectorAll("#kept a")].map((a) => a.textContent);

async function keptAndFound({ browser, url, pictures }) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  await open(page, url);
  await ask(page, "Where do herons nest?");
  await until(page, () => /^#ask\/c_/.test(location.hash));
  const link = page.url();
  await until(page, () => /Where do herons nest/.test(document.getElementById("kept").textContent));
  await open(page, link);
  await until(page, () => document.querySelector(".turn .chip"));
  check("story 9: a conversation is there after a reload, chips and all", /colonies/.test(await last(page, ".answer").textContent()));
  await ask(page, "What do they eat?");
  await open(page, link);
  await until(page, () => document.querySelectorAll(".turn").length === 2);
  check("and it was gone on with, with what the question was taken for", /^Asked as: .*eat/.test(await last(page, ".asked").textContent()) && await last(page, ".asked").isVisible(), await last(page, ".asked").textContent());

  await page.getByRole("button", { name: "Rename the conversation" }).click();
  await page.fill("#asks input", "Nests of herons");
  await page.keyboard.press("Enter");
  await until(page, () => /Nests of herons/.test(document.getElementById("kept").textContent) && document.getElementById("ask-title").textContent === "Nests of herons");
  check("story 10: it is renamed", true);
  await page.fill("#find", "colonies");
  await until(page, () => document.querySelectorAll("#kept a").length >= 1 && !/grey heron/.test(document.getElementById("kept").textContent));
  check("and found by a word of an answer", (await page.evaluate(titles)).includes("Nests of herons"), await page.textContent("#kept"));
  await page.fill("#find", "xyzzy");
  await until(page, () => /None has these words/.test(document.getElementById("kept-note").textContent));
  await page.fill("#find", "");
  await until(page, () => document.querySelectorAll("#kept a").length > 1);

  const { name, text } = await saved(page, () => page.getByRole("button", { name: "Export the conversation" }).click());
  check("story 11: it is exported as Markdown with footnotes", /^# Nests of herons\n\n## Where do herons nest\?\n\n.*colonies.*\[\^1\]/.test(text) && /^\[\^1\]: .*heron.*“.*colonies/m.test(text) && name === "Nests of herons.md", name + text);

  await page.getByRole("button", { name: "Share the conversation" }).click();
  await accessible(page, "the dialog is accessible");
  await page.screenshot({ path: pictures + "/page-share.png" });
  await page.click("#asks-yes");
  await until(page, () => /shared/.test(document.getElementById("kept").textContent));
  const id = link.split("/").pop();
  check("whoever shares by keyboard stays at the button", await until(page, () => document.activeElement.getAttribute("aria-label") === "Stop sharing the conversation").then(() => true));
  check("story 12: it is shared", (await (await fetch(url + "/conversations/" + id)).json()).shared);

  await page.getByRole("button", { name: "Delete the conversation" }).click();
  check("deleting asks first, and the harmless button has the focus", await page.evaluate(() => document.activeElement.id === "asks-no"));
  await page.keyboard.press("Escape");
  check("and can be called off", (await fetch(url + "/conversations/" + id)).status === 200);
  await page.getByRole("button", { name: "Delete the conversation" }).click();
  await page.click("#asks-yes");
  await until(page, () => !/Nests of herons/.test(document.getElementById("kept").textContent));
  check("story 13: it is deleted", (await fetch(url + "/conversations/" + id)).status === 404 && await page.isVisible("#welcome"));
  await page.goto(link);
  await until(page, () => /no such conversation/.test(document.getElementById("told").textContent));
  check("its link then says so", true);
  await page.close();
}

// A character of two units where the title is cut, and where the turns that go with the next question are.
async function halves({ browser, url }) {
  const page = await browser.newPage();
  await open(page, url);
  const start = "How tall is the grey heron?".padEnd(79, "?") + "\u{1F426}";
  await ask(page, start.padEnd(1999, " .") + "\u{1F426} ?");
  await until(page, () => /^#ask\/c_/.test(location.hash));
  await ask(page, "What does it eat?");
  check("no question fails for a character that would be halved", await page.locator(".turn .error").count() === 0, await page.textContent("#thread"));
  const id = page.url().split("/").pop(), kept = async () => (await (await fetch(url + "/conversations/" + id)).json()).turns;
  for (let i = 0; i < 200 && (await kept()).length < 2; i++) await page.waitForTimeout(50);
  check("and both are kept", (await kept()).length === 2);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole("button", { name: "Delete the conversation" }).click();
  check("what is to be deleted can be read, however long its words", await page.evaluate(() => {
    const dialog = document.getElementById("asks");
    return dialog.open && dialog.scrollWidth <= dialog.clientWidth;
  }));
  await page.keyboard.press("Escape");
  await page.close();
}

// A conversation that comes late covers none that was chosen after it, and ends no question asked since.
async function late({ browser, url }) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  const ids = [];
  for (const question of ["Where do herons nest?", "Where does the otter sleep?"]) {
    await open(page, url);
    await ask(page, question);
    await until(page, () => /^#ask\/c_/.test(location.hash));
    ids.push(page.url().split("/").pop());
  }
  let come = []; // lets the first of them come
  const relay = await between(url, (req) => (req.method === "GET" && req.url === "/conversations/" + ids[0] ? new Promise((go) => come.push(() => go(false))) : false));
  const choose = (id) => page.locator("#kept a[href='#ask/" + id + "']").click();
  const held = async () => {
    for (let i = 0; i < 200 && !come.length; i++) await page.waitForTimeout(50);
    return come.length > 0;
  };
  const comes = async () => {
    come.forEach((go) => go());
    come = [];
    await page.waitForTimeout(700);
  };
  await open(page, relay.url);
  await page.locator("#kept a[href='#ask/" + ids[0] + "']").waitFor();
  await choose(ids[0]);
  check("a conversation is on its way", await held());
  await choose(ids[1]);
  await until(page, () => /otter/.test(document.getElementById("ask-title").textContent));
  await comes();
  check("one that was chosen after it stays in sight", /otter/.test(await page.textContent("#ask-title")) && await page.locator(".turn").count() === 1 && page.url().endsWith(ids[1]));
  await choose(ids[0]);
  await held();
  await ask(page, "What does it eat?");
  await comes();
  check("so does one in which was asked meanwhile", await page.locator(".turn").count() === 2 && !/Stopped/.test(await page.textContent("#thread")) && page.url().endsWith(ids[1]), page.url());
  await page.close();
  await relay.close();
  for (const id of ids) await fetch(url + "/conversations/" + id, { method: "DELETE" });
}

// Words that run from the right do so wherever they are shown, each block for itself.
async function fromTheRight({ browser, url }) {
  const send = async (method, path, body) => (await fetch(url + path, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })).json();
  const title = "\u05db\u05de\u05d4 \u05d2\u05d1\u05d5\u05d4\u05d4 \u05d4\u05d0\u05e0\u05e4\u05d4?", { id } = await send("POST", "/conversations", { title, collection: "default" });
  await send("PUT", "/conversations/" + id + "/turns/0", { question: title, answer: "\u05de\u05d8\u05e8.\n\nOne metre.", collection: "default", reply: { answer_source: "generated", contexts: [], citations: [] } });
  const page = await browser.newPage();
  await open(page, url + "/#ask/" + id);
  await page.waitForSelector(".answer p");
  const runs = (selector) => page.locator(selector).evaluate((e) => getComputedStyle(e).direction);
  check("words that run from the right do so", (await Promise.all(["#ask-title", ".turn .question", ".answer p:first-child", "#kept a[href='#ask/" + id + "']"].map(runs))).every((d) => d === "rtl"));
  check("and no other", await runs(".answer p:last-child") === "ltr");
  await page.fill("#question", title);
  check("also where they are written", await runs("#question") === "rtl");
  await page.close();
  await fetch(url + "/conversations/" + id, { method: "DELETE" });
}

// First questions are such as are answered.
async function suggested({ browser, url }) {
  const put = (doc) => fetch(url + "/ingest", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ collection: "mill", documents: [doc] }) });
  await put({ id: "mill", title: "Mill", text: "When the red flag is up, the mill is closed and nobody may enter. The grain is stored in the tower above the wheel." });
  const page = await browser.newPage();
  await open(page, url);
  await page.selectOption("#collection", "mill");
  await page.waitForSelector(".suggestion");
  const words = await page.locator(".suggestion").allTextContents();
  check("story 14: first questions are made of the documents", words.includes("What happens when the red flag is up?") || words.includes("Where is the grain stored?"), words.join());
  await page.locator(".suggestion").first().click();
  await until(page, () => document.querySelector(".turn .chip"));
  check("and answered when they are taken up", /closed|tower/.test(await last(page, ".answer").textContent()));
  await page.close();
}

exports.stories = async (on) => {
  await keptAndFound(on);
  await halves(on);
  await late(on);
  await fromTheRight(on);
  await suggested(on);
};
