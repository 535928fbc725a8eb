// Stories of asking: files go in, a question is answered, its sources are read, the keyboard does all of it; and every
// view at every width in both themes.
"use strict";
const fs = require("fs");
const { accessible, ask, check, last, open, tooWide, until } = require("./stories.js");

async function firstAnswer({ browser, url, pictures }) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  await open(page, url);
  await page.getByRole("link", { name: "Documents" }).click();
  check("the view's heading has the focus", await until(page, () => document.activeElement.id === "documents-title").then(() => true));
  const folder = fs.mkdtempSync(pictures + "/files-");
  fs.writeFileSync(folder + "/heron.txt", "The grey heron stands one metre tall. It eats fish and frogs.\n\nHerons nest in colonies.\n");
  fs.writeFileSync(folder + "/otter <img src=x onerror=alert(1)>.md", "# The otter\n\nThe otter sleeps in a holt. <script>alert(1)</script><b>Wet</b>\n");
  await page.setInputFiles("#files", fs.readdirSync(folder).map((f) => folder + "/" + f));
  await until(page, () => /^2 files are in/.test(document.getElementById("upload-note").textContent));
  await until(page, () => /heron/.test(document.getElementById("documents-list").textContent));
  check("story 1: chosen files go in and are listed", await page.locator("#upload-results .good").count() === 2);

  await page.getByRole("link", { name: "Ask", exact: true }).click();
  await ask(page, "How tall is the grey heron?");
  check("story 2: a question is answered with a chip for its source", /one metre/.test(await last(page, ".answer").textContent()) && await last(page, ".chip").count() > 0);
  check("the few words that answer stand out", await last(page, ".answer .short").allTextContents().then((t) => t.length === 1 && /^one metre( tall)?$/.test(t[0])), await last(page, ".answer").innerHTML());
  check("how far the documents bear it out is said in a word", /supported/.test(await last(page, ".foot .note").textContent()));
  await last(page, ".chip").first().click();
  await page.waitForSelector("#reader-text mark");
  check("a chip opens the source beside the answer with the passage marked", /one metre/.test(await page.textContent("#reader-text mark")) &&
    await page.evaluate(() => document.getElementById("reader").getBoundingClientRect().left >= document.querySelector("main").getBoundingClientRect().right - 1));
  await last(page, ".how summary").click();
  check("passages show their scores", /^\d\.\d{3}$/.test(await last(page, ".contexts td.number").first().textContent()));
  check("stages show their times", /sparse/.test(await last(page, ".timings").textContent()) && await last(page, ".timings rect").count() > 2);
  await page.screenshot({ path: pictures + "/page-ask.png" });
  await page.click("#reader-close");

  await ask(page, "and what does it eat?");
  check("story 3: a follow-up is understood", /fish and frogs/.test(await last(page, ".answer").textContent()), await last(page, ".answer").textContent());
  check("the turn before it stands above, its chips too", await page.locator(".turn").count() === 2 && await page.locator(".turn:first-child .chip").count() > 0);
  await page.screenshot({ path: pictures + "/page-conversation.png" });
  await page.getByRole("button", { name: "New conversation" }).click();
  await until(page, () => !document.querySelectorAll(".turn").length);
  check("a new conversation starts empty", await page.isVisible("#welcome") && await page.inputValue("#question") === "");
  await ask(page, "Who invented the zeppelin engine?");
  check("story 4: what the documents lack is not answered", /do not answer|Nothing in this/.test(await last(page, ".answer").textContent()) && /not answered/.test(await last(page, ".foot .note").textContent()));
  await ask(page, "Where does the otter sleep?");
  await last(page, ".source").first().click();
  await page.waitForSelector("#reader-text mark");
  check("markup in documents and names stays text", /<img src=x/.test(await page.textContent("body")) && await page.locator("main img, main script, main b, #reader img, #reader b").count() === 0);
  await page.close();
}

// What the answer carries away, and what is said of it.
async function copied({ browser, url }) {
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage();
  await open(page, url);
  await ask(page, "How tall is the grey heron?");
  await last(page, ".acts").getByRole("button", { name: /^Copy/ }).click();
  await until(page, () => /Copied/.test(document.getElementById("told").textContent));
  const text = await page.evaluate(() => navigator.clipboard.readText());
  check("story 5: an answer is copied with its citations", /one metre.*\[1\][^]*Sources:\n\[1\] .*heron/.test(text), text);
  await last(page, ".acts").getByRole("button", { name: "A good answer" }).click();
  await until(page, () => document.querySelector(".turn .acts [aria-pressed=true]"));
  const said = async () => (await (await fetch(url + "/analytics/feedback")).json()).data;
  check("story 6: a good word is kept by the service", (await said()).some((d) => d.query === "How tall is the grey heron?" && d.rating === "up" && d.documents.includes("heron.txt")), JSON.stringify(await said()));
  await page.reload();
  await until(page, () => document.querySelector(".turn .acts [aria-pressed=true]"));
  check("and stands there when the conversation is opened again", await page.getByRole("button", { name: "A good answer" }).getAttribute("aria-pressed") === "true");
  await page.getByRole("button", { name: "A bad answer" }).click();
  await until(page, () => document.querySelectorAll(".acts [aria-pressed=true]").length === 1 && document.querySelector("[aria-label='A bad answer']").getAttribute("aria-pressed") === "true");
  check("and so do the words that answer", await last(page, ".answer .short").count() === 1);
  check("the last word counts", (await said()).filter((d) => d.query === "How tall is the grey heron?").map((d) => d.rating).join() === "down");
  await page.getByRole("button", { name: "Ask again" }).click();
  await until(page, () => document.getElementById("stop").hidden && document.querySelectorAll(".turn").length === 1 && /ms/.test(document.querySelector(".turn .foot .note").textContent) && !/from memory/.test(document.querySelector(".turn .foot .note").textContent));
  check("story 7: asked again, the answer is made anew in its place", /one metre/.test(await last(page, ".answer").textContent()));
  await context.close();
}

// A document that has changed since it was cited: its words are found where they are now, or are said to be gone.
async function changed({ browser, url }) {
  const write = (text) => fetch(url + "/ingest", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ collection: "moor", documents: [{ id: "curlew", title: "Curlew", text }] }) });
  await write("The curlew nests in heather.");
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  await open(page, url);
  await page.selectOption("#collection", "moor");
  await ask(page, "Where does the curlew nest?");
  await write("Snipe drum at dusk, and lapwings tumble over the fields. The curlew nests in heather.");
  await last(page, ".chip").first().click();
  await page.waitForSelector("#reader-text mark");
  check("a passage that stands elsewhere by now is marked there", /heather/.test(await page.textContent("#reader-text mark")) && !/Snipe|drum|lapwing/.test(await page.textContent("#reader-text mark")) && /has changed since/.test(await page.textContent("#reader-note")), await page.textContent("#reader-text mark"));
  await write("Snipe drum at dusk, and lapwings tumble over the fields.");
  await last(page, ".chip").first().click();
  await until(page, () => /no longer in it/.test(document.getElementById("reader-note").textContent));
  check("and of one that is gone nothing is marked", await page.locator("#reader-text mark").count() === 0 && /Snipe/.test(await page.textContent("#reader-text")));
  await page.close();
  await fetch(url + "/collections/moor", { method: "DELETE" });
}

async function keyboard({ browser, url }) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  await open(page, url + "/#ask");
  await page.keyboard.press("Tab");
  check("the first stop is the way past the header", await page.evaluate(() => document.activeElement.className === "skip"));
  await page.keyboard.press("Enter");
  const stops = [], here = () => document.activeElement.id || document.activeElement.className || document.activeElement.textContent;
  for (let i = 0; i < 8 && stops[stops.length - 1] !== "Ask"; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(here);
    if (at !== "suggestion") stops.push(at);
    if (await page.evaluate(() => document.activeElement.type === "submit")) stops.push("Ask");
  }
  check("then comes the form in its order", stops.filter((s, i) => s !== stops[i - 1]).join().startsWith("question,collection,SUMMARY".replace("SUMMARY", "Options")), stops.join());
  await page.focus("#question");
  await page.keyboard.type("How tall is the grey heron?");
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelector(".turn .chip") && document.getElementById("stop").hidden);
  await page.focus("#question");
  for (let i = 0; i < 25 && !(await page.evaluate(() => document.activeElement.matches(".chip"))); i++) await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#reader-text mark");
  check("story 8: the source opens by keyboard and has the focus", await until(page, () => document.activeElement.id === "reader-text").then(() => true));
  await page.keyboard.press("Escape");
  check("Escape closes it and gives the focus back", await page.evaluate(() => document.activeElement.matches(".chip")) && await page.isHidden("#reader"));
  await page.keyboard.press("Enter");
  await until(page, () => document.activeElement.id === "reader-text");
  await page.focus("#question"); // by Tab some browsers leave the page here, for their own bars
  await page.keyboard.press("Escape");
  check("it does wherever the focus is", await page.isHidden("#reader"));
  await page.focus(".turn .chip");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  check("every stop shows where it is", await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle !== "none"));
  const answered = () => until(page, () => document.getElementById("stop").hidden && !document.querySelector(".turn:last-child [aria-busy]"));
  const headed = (n) => page.evaluate((i) => document.activeElement === document.querySelectorAll(".turn h3")[i], n);
  await page.getByRole("button", { name: "Ask again" }).press("Enter");
  await answered();
  check("who asks again stands at the question then", await headed(0));
  await page.fill("#question", "What does it eat?");
  await page.locator("#ask-form [type=submit]").press("Enter");
  await answered();
  check("so does who asks by the button", await headed(1));
  await page.keyboard.press("Tab");
  check("and goes on to what is cited", await page.evaluate(() => document.activeElement.matches(".chip")));
  await page.fill("#question", "How tall is it?");
  await page.press("#question", "Enter");
  await answered();
  check("who asks in the field stays there", await page.evaluate(() => document.activeElement.id === "question"));
  await page.setViewportSize({ width: 390, height: 844 });
  await page.waitForSelector("#menu"); // a busy machine takes its time to lay the page out anew
  await page.focus("#menu");
  await page.keyboard.press("Enter");
  await until(page, () => document.getElementById("main").inert);
  await page.keyboard.press("Tab");
  check("on a phone the menu opens by keyboard and leads into itself", await page.evaluate(() => document.getElementById("side").contains(document.activeElement) && document.getElementById("main").inert));
  await page.keyboard.press("Escape");
  check("and Escape leaves it", await page.evaluate(() => document.activeElement.id === "menu" && !document.getElementById("main").inert));
  await page.close();
}

exports.stories = async (on) => {
  await firstAnswer(on);
  await copied(on);
  await changed(on);
  await keyboard(on);
};

// ---- all views, all widths, both themes ------------------------------------------------------

const ready = {
  ask: async (page) => {
    await ask(page, "How tall is the grey heron?");
    await last(page, ".how summary").click();
  },
  source: async (page) => {
    await ask(page, "How tall is the grey heron?");
    await last(page, ".chip").first().click();
    await page.waitForSelector("#reader-text mark");
  },
  documents: (page) => page.waitForSelector("#documents-list input"),
  dashboard: (page) => page.waitForSelector("#chart-ratio svg .dot"),
  settings: (page) => page.waitForSelector("#models li"),
};

// The button stands in one row with the rest of the composer, at its right end; a chip behind the word before it.
const inOrder = (page) => page.evaluate(() => {
  const ask = document.querySelector(".tools button[type=submit]").getBoundingClientRect(), choice = document.getElementById("collection").getBoundingClientRect();
  const row = Math.abs(ask.top + ask.bottom - choice.top - choice.bottom) < 24 && document.getElementById("composer").getBoundingClientRect().right - ask.right < 16;
  const chips = [...document.querySelectorAll(".answer .stay .chip")];
  return row && chips.length > 0 && chips.every((c) => {
    const word = document.createRange();
    word.selectNodeContents(c.parentElement.firstChild);
    const w = [...word.getClientRects()].pop(), k = c.getBoundingClientRect();
    return k.left >= w.right - 2 && k.top < w.bottom;
  });
});

exports.everywhere = async ({ browser, url, pictures }) => {
  for (const colorScheme of ["light", "dark"]) {
    for (const [view, when] of Object.entries(ready)) {
      const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, colorScheme });
      await open(page, url + "/#" + (view === "source" ? "ask" : view));
      await when(page);
      const wide = [], disorder = [];
      for (const width of [360, 390, 768, 1280, 2560]) {
        await page.setViewportSize({ width, height: width < 500 ? 844 : width > 2000 ? 1400 : 860 });
        await page.waitForTimeout(120);
        if (view === "ask" && !(await inOrder(page))) disorder.push(width);
        if (await tooWide(page) > 0) wide.push(width + ": " + await tooWide(page));
        if (width !== 360) await page.screenshot({ path: pictures + "/" + [view, width, colorScheme].join("-") + ".png" });
        if (width === 390 || width === 1280) await accessible(page, view + " at " + width + " pixels in " + colorScheme + " is accessible");
      }
      if (view === "ask") check("the composer is one row, and no chip begins a line, in " + colorScheme, disorder.length === 0, disorder.join());
      check(view + " scrolls sideways at no width in " + colorScheme, wide.length === 0, wide.join("; "));
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      check("its ground is " + colorScheme, (colorScheme === "dark") === /rgb\([0-4]?\d, /.test(ground), ground);
      await page.close();
    }
  }
};
