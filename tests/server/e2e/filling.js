// Stories of collections and documents: made, filled by dropping, searched, sorted, filtered, deleted in bulk; what the
// service runs with, and what it did.
"use strict";
const { between, refuse } = require("./between.js");
const { accessible, check, open, saved, until } = require("./stories.js");

const names = () => [...document.querySelectorAll("#documents-list .link")].map((b) => b.textContent);
const sees = (page, wanted) => until(page, (w) => [...document.querySelectorAll("#documents-list .link")].map((b) => b.textContent).join() === w, wanted);

// Files dropped as a browser hands them out; folders cannot be made up by a script, so that their entries are played.
const drop = (page, entries) => page.evaluate((entries) => {
  const entry = (e) => e.files
    ? { name: e.name, isFile: false, createReader: () => { let gone = false; return { readEntries: (yes) => { yes(gone ? [] : e.files.map(entry)); gone = true; } }; } }
    : { name: e.name, isFile: true, file: (yes, no) => (e.gone ? no(new DOMException("It is gone.", "NotFoundError")) : yes(new File([e.text], e.name))) };
  const event = new Event("drop", { bubbles: true, cancelable: true });
  event.dataTransfer = { types: ["Files"], files: [], items: entries.map((e) => ({ kind: "file", webkitGetAsEntry: () => entry(e) })) };
  const over = new Event("dragover", { bubbles: true, cancelable: true });
  over.dataTransfer = event.dataTransfer;
  document.body.dispatchEvent(over);
  if (!document.getElementById("drop").classList.contains("over")) throw new Error("nothing shows that it may be dropped");
  document.body.dispatchEvent(event);
}, entries);

async function filled({ browser, url, pictures }) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1100 } });
  await open(page, url + "/#documents");
  await page.click("#make-collection");
  await page.fill("#asks input", "birds of 2024!");
  await page.click("#asks-yes");
  check("a name that cannot be is refused where it is typed", await page.isVisible("#asks"));
  await page.fill("#asks input", "birds");
  await page.click("#asks-yes");
  await until(page, () => /Documents in birds/.test(document.getElementById("list-title").textContent));
  check("story 15: a collection is made", (await (await fetch(url + "/collections")).json()).data.some((c) => c.name === "birds"));

  await page.goto(url + "/#ask"); // wherever one is
  await drop(page, [{ name: "bittern.txt", text: "The bittern booms in the reeds." }, { name: "far", files: [
    { name: "stork.md", text: "# Stork\n\nThe stork nests on roofs." }, { name: ".hidden", text: "no" }, { name: "song.mp3", text: "ID3\u0003\u0000\u0000\u0000\u0000\u0000\u0000" },
    { name: "deep", files: [{ name: "crane.txt", text: "The crane dances at dawn in the meadow by the river, every day of the spring." }] }] }]);
  await until(page, () => /^3 files are in.*, 1 refused/.test(document.getElementById("upload-note").textContent));
  const refused = await page.textContent("#upload-results .bad");
  check("story 16: a dropped folder goes in, and what is refused is named with the reason", /far\/song\.mp3/.test(refused) && refused.length > 25, refused);
  await until(page, () => /deep/.test(document.getElementById("documents-list").textContent));
  check("files keep their place in the folder", /far\/deep\/crane\.txt/.test(await page.textContent("#documents-list")));
  await accessible(page, "that is accessible");
  await page.screenshot({ path: pictures + "/page-upload.png" });
  await page.click("#upload-clear");
  check("the list is cleared", await page.isHidden("#uploads"));
  await page.close();
}

// A file that cannot be read keeps no other from going in, and Stop is obeyed while a busy service is waited for.
async function unread({ browser, url }) {
  let asked = 0;
  const relay = await between(url, (req, res) => req.url === "/ingest" && ++asked && refuse(req, res, 503, "too many requests wait already", { "Retry-After": "5" }));
  const page = await browser.newPage();
  await open(page, relay.url + "/#documents");
  await drop(page, [{ name: "gone.txt", gone: true }, { name: "teal.txt", text: "The teal is a small duck." }]);
  await until(page, () => /busy, once more/.test(document.getElementById("upload-results").textContent));
  check("a file that cannot be read is named, and the others go in", /gone\.txt.*cannot be read: It is gone/.test(await page.textContent("#upload-results .bad")), await page.textContent("#upload-results"));
  await page.click("#upload-clear");
  await until(page, () => /^0 files are in.*, 1 could not be sent, 1 stopped/.test(document.getElementById("upload-note").textContent));
  const before = asked; // how often the busy service was asked until it was stopped is the machine's matter
  await page.waitForTimeout(6000); // longer than it was to wait
  check("what waited for the service is stopped, and not sent any more", asked === before && /teal\.txt.*stopped/.test(await page.textContent("#upload-results")), before + " then " + asked + await page.textContent("#upload-results"));
  await page.close();
  await relay.close();
}

async function sorted({ browser, url, pictures }) {
  await fetch(url + "/ingest", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ collection: "birds", documents: [
    { id: "old", title: "Avocet", text: "The avocet wades.", metadata: { year: 1999 } }, { id: "new", title: "Zander", text: "The zander is a fish.", metadata: { year: 2024 } }] }) });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await open(page, url + "/#documents");
  await page.getByRole("button", { name: /^birds/ }).click();
  await page.waitForSelector("#documents-list input");
  await until(page, () => document.querySelectorAll("#documents-list input").length === 5);
  check("they stand in order of their titles", (await page.evaluate(names))[0] === "Avocet" && await page.getAttribute("th:has([data-order=title])", "aria-sort") === "ascending");
  await page.click("[data-order=title]");
  await until(page, () => document.querySelector("#documents-list .link").textContent === "Zander");
  await page.click("[data-order=size]");
  await until(page, () => /crane/.test(document.querySelector("#documents-list .link").textContent));
  check("story 17: or by size, the largest first", await page.getAttribute("th:has([data-order=size])", "aria-sort") === "descending");
  await page.fill("#find-text", "STORK");
  await sees(page, (await page.evaluate(names)).find((n) => /tork/.test(n)));
  check("story 18: found by name, whatever its case", true);
  await page.fill("#find-text", "");
  await page.click("#conditions summary");
  await page.fill("#filter-key", "year");
  await page.selectOption("#filter-type", "gte");
  await page.fill("#filter-value", "2000");
  await page.keyboard.press("Enter");
  await sees(page, "Zander");
  check("and by metadata", true);
  await page.screenshot({ path: pictures + "/page-filter.png" });
  await page.click("#bulk-all");
  await page.waitForSelector("#asks[open]");
  check("story 19: deleting what matches counts it first", /^Delete the one document that matches\?$/.test(await page.textContent("#asks-title")) && (await (await fetch(url + "/documents/new?collection=birds")).status) === 200);
  await page.click("#asks-yes");
  await until(page, () => /No document fits/.test(document.getElementById("documents-list").textContent));
  check("then it is gone", (await fetch(url + "/documents/new?collection=birds")).status === 404);
  await page.click("#filter-clear");
  await until(page, () => document.querySelectorAll("#documents-list input").length === 4);
  await page.check("#select-all");
  check("all that are shown are selected at once", /4 documents selected/.test(await page.textContent("#bulk-note")));
  await page.locator("#documents-list input").first().uncheck();
  await page.click("#bulk-delete");
  await page.click("#asks-yes");
  await until(page, () => document.querySelectorAll("#documents-list input").length === 1 && !document.getElementById("asks").open);
  check("what is selected is deleted, the rest stays", (await (await fetch(url + "/documents?collection=birds")).json()).data.length === 1);
  await page.locator("#documents-list .link").first().click();
  await page.waitForSelector("#reader:not([hidden])");
  check("a document is read where it is listed", (await page.textContent("#reader-text")).length > 10);
  await page.click("#delete-collection");
  await page.fill("#asks input", "bird");
  await page.click("#asks-yes");
  await page.waitForSelector("#asks-error:not([hidden])");
  await page.fill("#asks input", "birds");
  await page.click("#asks-yes");
  await until(page, () => !/birds/.test(document.getElementById("collections").textContent));
  check("a collection goes once its name was typed", true);
  await page.close();
}

// A deletion that takes long can be stopped on the way, and what it did until then is counted.
async function stopped({ browser, url }) {
  await fetch(url + "/ingest", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ collection: "reeds", documents: ["a", "b", "c"].map((id) => ({ id, text: "A reed named " + id + "." })) }) });
  const asked = [];
  const relay = await between(url, (req) => (req.method === "DELETE" ? new Promise((go) => asked.push(() => go(false))) : false));
  const page = await browser.newPage();
  await open(page, relay.url + "/#documents");
  await page.getByRole("button", { name: /^reeds/ }).click();
  await until(page, () => document.querySelectorAll("#documents-list input").length === 3);
  await page.check("#select-all");
  await page.click("#bulk-delete");
  await page.click("#asks-yes");
  for (let i = 0; i < 200 && asked.length < 1; i++) await page.waitForTimeout(50);
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  check("a deletion that is stopped ends behind the document that it is at", await page.isVisible("#asks") && asked.length === 1);
  asked[0]();
  await until(page, () => /^1 document deleted/.test(document.getElementById("told").textContent) && document.querySelectorAll("#documents-list input").length === 2);
  check("and says how many are gone", asked.length === 1 && (await (await fetch(url + "/documents?collection=reeds")).json()).data.length === 2);
  await page.close();
  await relay.close();
  await fetch(url + "/collections/reeds", { method: "DELETE" });
}

async function dashboard({ browser, url, pictures }) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await open(page, url + "/#dashboard");
  await page.waitForSelector("#chart-ratio svg .dot");
  await page.waitForSelector("#chart-latency svg .dot");
  const layers = await page.locator("#layers tbody tr td:first-child").allTextContents();
  check("all five cache layers are there", layers.join() === "answers,retrieval,KV prefix,KV chunk,KV disk", layers.join());
  await until(page, () => /grey heron/.test(document.getElementById("hot").textContent) && /zeppelin/.test(document.getElementById("unanswered").textContent));
  check("story 20: hot and unanswered questions are named", true);
  check("and what people said of answers", /0 good, 1 bad/.test(await page.textContent("#feedback-note")), await page.textContent("#feedback-note"));
  const file = await saved(page, () => page.click("#feedback-qrels"));
  check("which is had as judgements", file.name === "qrels.tsv" && /^f[0-9a-f]{16}\theron\.txt\t0$/m.test(file.text), file.text);
  await page.selectOption("#stage", "sparse");
  await until(page, () => /stage sparse/.test(document.querySelector("#chart-latency figcaption").textContent));
  check("memory has a line", await page.locator("#chart-memory svg .dot").count() > 0);
  check("without a language model there is no map of pages", /No language model/.test(await page.textContent("#kv-map")));
  check("a chart says in words what it shows", /^Hit ratio.*answers \d/.test(await page.getAttribute("#chart-ratio svg[role=img]", "aria-label")), await page.getAttribute("#chart-ratio svg[role=img]", "aria-label"));
  await page.locator("#chart-ratio summary").click();
  check("and gives its figures as a table", /%/.test(await page.textContent("#chart-ratio table")));
  await page.locator("#chart-ratio summary").click();
  await page.screenshot({ path: pictures + "/page-dashboard.png" });
  await page.close();
}

exports.stories = async (on) => {
  await filled(on);
  await unread(on);
  await sorted(on);
  await stopped(on);
  await dashboard(on);
};
