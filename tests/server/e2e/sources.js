// Documents as people have them, in a real browser: a PDF's page with the cited passage marked, and a folder that is kept in
// step from the page. Run by ../documents_page_test.sh:
//     node sources.js URL CHROMIUM FOLDER_OF_PICTURES PDF NOTES
"use strict";
const fs = require("fs");
const { launch } = require("./browser.js");
const { accessible, ask, check, last, listen, next, open, plan, until, wrong } = require("./stories.js");
const [url, executablePath, pictures, pdf, notes] = process.argv.slice(2);
const text = (page, of) => page.textContent(of);

// Colours of the image where the marked box is and where it is not, in dots.
const colours = (page) => page.evaluate(() => {
  const c = document.getElementById("reader-image"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
  const found = { marked: 0, white: 0, dark: 0, box: [1e9, 1e9, 0, 0] };
  for (let y = 0; y < c.height; y++)
    for (let x = 0; x < c.width; x++) {
      const i = 4 * (y * c.width + x), [r, g, b] = [d[i], d[i + 1], d[i + 2]];
      if (r === 255 && g === 255 && b === 255) found.white++;
      if (r < 60 && g < 60 && b < 60) found.dark++;
      if (r !== 255 || g !== 0xe3 || b !== 0x8a) continue;
      found.marked++;
      found.box = [Math.min(found.box[0], x), Math.min(found.box[1], y), Math.max(found.box[2], x), Math.max(found.box[3], y)];
    }
  return { ...found, width: c.width, height: c.height };
});

async function pages(page) {
  await open(page, url + "/#documents");
  await page.setInputFiles("#files", pdf);
  await until(page, () => /(is|are) in/.test(document.getElementById("upload-note").textContent));
  await page.goto(url + "/#ask");
  const question = "When did otters come back to the fen?";
  await ask(page, question);
  const reply = await fetch(url + "/query", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ query: question }) });
  const cited = (await reply.json()).citations[0].source;
  check("the answer cites the second page, with a box", cited.page === 2 && cited.bbox && cited.bbox.length === 4, JSON.stringify(cited));
  await last(page, ".source").first().click();
  await page.waitForSelector("#reader-page:not([hidden])");
  const c = await colours(page);
  check("the page is shown: paper and letters", c.white > 100000 && c.dark > 500, JSON.stringify(c));
  const near = cited.bbox.map((v) => v * 1.5), off = c.box.map((v, i) => Math.abs(v - near[i]));
  check("the cited passage is marked where it stands", c.marked > 500 && Math.max(...off) < 12, JSON.stringify([c.box, near]));
  check("it is named for who cannot see it", /^Page 2 of .*marked$/.test(await page.getAttribute("#reader-image", "aria-label")));
  check("the text is there too, with its mark", (await text(page, "#reader-text mark")).length > 5);
  check("the mark is in sight", await page.evaluate((c) => {
    const p = document.getElementById("reader-page"), i = document.getElementById("reader-image");
    const y = (c.box[1] + c.box[3]) / 2 * i.clientHeight / i.height - p.scrollTop;
    return y > 0 && y < p.clientHeight;
  }, c));
  await accessible(page, "that is accessible");
  await page.locator("#reader").scrollIntoViewIfNeeded();
  await page.screenshot({ path: pictures + "/page-pdf.png" });
  await page.click("#reader-close");
  check("it closes", await page.isHidden("#reader"));
  await ask(page, "How tall is the grey heron?");
  await last(page, ".source").first().click();
  await page.waitForSelector("#reader:not([hidden])");
  check("a source without pages is shown as text alone", await page.isHidden("#reader-page") && /heron/.test(await text(page, "#reader-text")));
  await page.click("#reader-close");
}

async function folders(page) {
  await page.goto(url + "/#documents");
  await page.waitForSelector("#folders-section:not([hidden])");
  await until(page, () => /created 1, /.test(document.getElementById("folders").textContent));
  check("a folder tells of its last run", /notes/.test(await text(page, "#folders")) && /skipped: \.png 1/.test(await text(page, "#folders")));
  fs.writeFileSync(notes + "/crane.md", "# Crane\n\nThe crane nests on the ground.\n");
  fs.rmSync(notes + "/heron.md");
  fs.writeFileSync(notes + "/torn.pdf", "%PDF-1.4\nnothing\n");
  await page.click("#folders button");
  check("Sync now begins a run", /notes is looked at/.test(await text(page, "#folders-note")) || await until(page, () => /looked at/.test(document.getElementById("folders-note").textContent)));
  // The folder is watched, too: which of the two runs sees what is chance.
  await until(page, () => /failed 1/.test(document.getElementById("folders").textContent));
  const ids = async () => (await (await fetch(url + "/documents?source=notes")).json()).data.map((d) => d.id).join();
  for (let i = 0; i < 200 && await ids() !== "notes/crane.md"; i++) await page.waitForTimeout(100);
  check("what is new is taken in, and what is gone is taken out", await ids() === "notes/crane.md", await ids());
  check("a file that failed is named, with the reason", /torn\.pdf: .{10}/.test(await text(page, "#folders")), await text(page, "#folders"));
  check("the number of its documents follows", await until(page, () => document.getElementById("folders").querySelector("td.number").textContent === "1"));
  await accessible(page, "that is accessible");
  await page.locator("#folders-section").scrollIntoViewIfNeeded();
  await page.screenshot({ path: pictures + "/page-folders.png", fullPage: true });
  await open(page, url + "/#ask");
  await ask(page, "Where does the crane nest?");
  check("and the new file answers", /ground/.test(await last(page, ".answer").textContent()));
}

(async () => {
  const browser = await launch(executablePath);
  const page = listen(await browser.newPage({ viewport: { width: 1280, height: 900 } }));
  await pages(page);
  await folders(page);
  check("nothing went wrong on the console", wrong.length === 0, wrong.join("; "));
  plan();
  await browser.close();
})().catch((e) => {
  console.log("not ok " + next() + " - " + e.message.split("\n").slice(0, 3).join(" "));
  process.exit(1);
});
