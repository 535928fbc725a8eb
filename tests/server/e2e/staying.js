// Stories of where the keyboard's focus stays when what had it is gone, of what buttons are called by then, and of texts
// that are longer than the room for them.
"use strict";
const { check, last, open, until } = require("./stories.js");

const send = async (url, method, path, body, key) => (await fetch(url + path, { method, body: JSON.stringify(body),
  headers: { "Content-Type": "application/json", ...(key ? { Authorization: "Bearer " + key } : {}) } })).json();
const focused = (page) => page.evaluate(() => document.activeElement.id || document.activeElement.textContent.slice(0, 60));

// A conversation of one answer with five sources.
async function cited(url, title) {
  const { id } = await send(url, "POST", "/conversations", { title, collection: "default" });
  const citations = [1, 2, 3, 4, 5].map((index) => ({ index, verified: true, quote: "Heron " + index, answer_span: { start: 0, end: 6 },
    source: { document_id: "heron.txt", title: "Heron " + index, start: 0, end: 4 } }));
  await send(url, "PUT", "/conversations/" + id + "/turns/0", { question: title, answer: "Herons.", collection: "default",
    reply: { status: "answered", answer_source: "extractive", contexts: [], citations } });
  return id;
}

async function moreSources({ browser, url }) {
  const id = await cited(url, "Which herons?");
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  await open(page, url + "/#ask/" + id);
  const more = page.getByRole("button", { name: "Show 2 more" });
  await more.focus();
  await page.keyboard.press("Enter");
  check("of more sources the first that came has the focus", /^4Heron 4/.test(await focused(page)) && await more.count() === 0 && await last(page, ".source:visible").count() === 5, await focused(page));
  await page.close();
  await send(url, "DELETE", "/conversations/" + id);
}

async function moreConversations({ browser, url }) {
  const ids = [];
  for (let i = 0; i < 43; i++) ids.push((await send(url, "POST", "/conversations", { title: "Pond " + i, collection: "default" })).id);
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  await open(page, url);
  await until(page, () => document.querySelectorAll("#kept a").length === 40);
  await page.focus("#kept-more");
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelectorAll("#kept a").length > 40);
  check("of more conversations, too", await until(page, () => document.activeElement === document.querySelectorAll("#kept a")[40]).then(() => true));
  await page.close();
  for (const id of ids) await send(url, "DELETE", "/conversations/" + id);
}

// A button is called by what it does; that a conversation is shared is told, and stands in the list.
async function sharing({ browser, url }) {
  const title = "Which herons are there in the marshes of the north, and when do they leave?", id = await cited(url, title);
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  await open(page, url + "/#ask/" + id);
  await page.waitForSelector(".turn .source");
  const names = () => page.locator("#conversation-actions button").evaluateAll((all) => all.map((b) => b.getAttribute("aria-label")).join());
  const press = async (name) => {
    await page.getByRole("button", { name, exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.click("#asks-yes");
  };
  const others = ["Rename the conversation", "Export the conversation,Delete the conversation"];
  check("buttons are called by what they do", await names() === [others[0], "Share the conversation", others[1]].join(), await names());
  await press("Share the conversation");
  await until(page, () => /^Shared/.test(document.querySelector("#told[role=status]").textContent));
  await until(page, () => document.querySelector("#kept [aria-current] .tag"));
  check("also once it is shared, which is told", await names() === [others[0], "Stop sharing the conversation", others[1]].join(), await names());
  check("the list says so, however long the title", await page.locator("#kept [aria-current]").evaluate((a) => {
    const row = a.getBoundingClientRect(), tag = a.querySelector(".tag").getBoundingClientRect();
    return tag.width > 20 && tag.right <= row.right && a.querySelector(".title").getBoundingClientRect().right <= tag.left;
  }));
  await press("Stop sharing the conversation");
  await until(page, () => /^No longer shared/.test(document.getElementById("told").textContent));
  check("and its sharing is stopped where it was begun", await names() === [others[0], "Share the conversation", others[1]].join() &&
    await page.evaluate(() => document.activeElement.getAttribute("aria-label") === "Share the conversation") && !(await send(url, "GET", "/conversations/" + id)).shared);
  await page.close();
  await send(url, "DELETE", "/conversations/" + id);
}

// On a phone: what stands above a source, and what stands before figures.
async function room({ browser, url }) {
  const name = "heron - a bird of which this title says so much that no phone shows it in a line, and a wide window hardly does: " +
    "where it stands, what it eats, when it comes and goes, and who has seen it";
  await send(url, "POST", "/ingest", { collection: "room", documents: [{ id: "a/long/path/to/where/the/heron/stands/in/the/archive/of/the/north.txt", title: name, text: "The grey heron stands one metre tall. ".repeat(60) }] });
  const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
  await open(page, url + "/#documents");
  await page.getByRole("button", { name: /^room/ }).click();
  await page.getByRole("button", { name }).click();
  await page.waitForSelector("#reader:not([hidden])");
  const [sheet, title, note, text] = await page.evaluate(() => ["reader", "reader-title", "reader-note", "reader-text"].map((id) => {
    const r = document.getElementById(id).getBoundingClientRect();
    return { top: r.top, bottom: r.bottom };
  }));
  check("a long title stands in its sheet, above where it is from, and that above the text", sheet.top <= title.top && title.bottom <= note.top + 1 && note.bottom <= text.top + 1, JSON.stringify([sheet, title, note, text]));
  await page.keyboard.press("Escape");
  await page.goto(url + "/#ask");
  await page.click("#options summary");
  check("the options of a question are in the window", await page.locator("#options .sheet").evaluate((e) => {
    const r = e.getBoundingClientRect();
    return r.width > 100 && r.left >= 0 && r.right <= innerWidth && r.top >= 0;
  }));
  await page.goto(url + "/#dashboard");
  await page.waitForSelector("#stages tbody td");
  check("no word before figures is cut in two", await page.locator("#stages tbody td:first-child, #layers tbody td:first-child").evaluateAll((all) => all.every((e) => {
    const words = document.createRange();
    words.selectNodeContents(e);
    return words.getClientRects().length === 1;
  })));
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.goto(url + "/#documents");
  await page.getByRole("button", { name: /^room/ }).click();
  await until(page, () => /^heron - a bird/.test(document.querySelector("#documents-list .link")?.textContent || ""));
  check("a date stands in one line", await page.locator("#documents-list td.when").first().evaluate((e) => {
    const date = document.createRange();
    date.selectNodeContents(e);
    return date.getClientRects().length === 1;
  }));
  await page.fill("#find-text", "heron");
  check("how many documents match is said", await until(page, () => document.getElementById("bulk-note").textContent === "1 document matches").then(() => true));
  await page.close();
  await send(url, "DELETE", "/collections/room");
}

exports.stories = async (on) => {
  await moreSources(on);
  await moreConversations(on);
  await sharing(on);
  await room(on);
};

// Its button is gone with the key: the heading of the keys has the focus. admin: a key that may make others.
exports.revoked = async ({ browser, keyed }, admin) => {
  const { key } = await send(keyed, "POST", "/keys", { name: "guest", scopes: ["read"] }, admin);
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  await page.goto(keyed + "/openapi.json");
  await page.evaluate((k) => sessionStorage.setItem("forage-api-key", k), admin);
  await page.goto(keyed + "/#settings");
  await page.getByRole("button", { name: "Revoke guest" }).focus();
  await page.keyboard.press("Enter");
  await page.focus("#asks-yes");
  await page.keyboard.press("Enter");
  await until(page, () => document.getElementById("told").textContent === "Revoked.");
  check("whoever revokes a key by keyboard stays at the keys", await focused(page) === "keys-title", await focused(page));
  await page.keyboard.press("Tab");
  check("and goes on from there", await focused(page) === "make-key", await focused(page));
  check("the key is listed as revoked, and refused", /guest\s*revoked/.test(await page.textContent("#keys")) && await until(page, async (k) => (await fetch("/session", { headers: { Authorization: "Bearer " + k } })).status === 401, key).then(() => true));
  await page.close();
};
