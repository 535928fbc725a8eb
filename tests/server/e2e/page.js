// The web page as a reader uses it, in a real browser. Run by ../page_test.sh:
//     node page.js URL CHROMIUM [FOLDER for screenshots]
"use strict";
const fs = require("fs");
const { launch } = require("./browser.js");
const [url, executablePath, pictures] = process.argv.slice(2);

let n = 0;
function check(sentence, holds) {
  n++;
  console.log((holds ? "ok " : "not ok ") + n + " - " + sentence);
}

(async () => {
  const browser = await launch(executablePath);
  const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
  const wrong = [];
  page.on("console", (m) => m.type() === "error" && wrong.push(m.text()));
  page.on("pageerror", (e) => wrong.push(e.message));
  await page.goto(url);
  await page.waitForFunction(() => document.getElementById("collection").options.length > 0);

  await page.getByRole("link", { name: "Documents" }).click();
  fs.writeFileSync(pictures + "/heron.txt", "The grey heron stands one metre tall. It eats fish and frogs.\n\nHerons nest in colonies.\n");
  await page.setInputFiles("#files", pictures + "/heron.txt");
  await page.getByRole("button", { name: "Upload" }).click();
  await page.waitForFunction(() => /1 of 1 documents/.test(document.getElementById("upload-note").textContent));
  await page.waitForSelector("#documents-list tr");
  check("an uploaded document is in the list", /heron/.test(await page.textContent("#documents-list")));

  await page.getByRole("link", { name: "Ask" }).click();
  const ask = async (text) => {
    await page.fill("#question", text);
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => / ms/.test(document.getElementById("answer-note").textContent));
  };
  await ask("How tall is the grey heron?");
  check("the answer is streamed with a chip for its source", /one metre/.test(await page.textContent("#answer-text")) && await page.locator("#answer-text .chip").count() > 0);
  await page.locator("#answer-text .chip").first().click();
  await page.waitForSelector("#reader-text mark");
  check("a chip opens the source with the passage marked", /one metre/.test(await page.textContent("#reader-text mark")));
  await page.locator("#details summary").click();
  check("contexts show their scores, stages their times", /dense|sparse|total/.test(await page.textContent("#timings")) && await page.locator("#contexts tr").count() > 0);
  await page.screenshot({ path: pictures + "/page-ask.png" });
  await ask("How tall is the grey heron?");
  check("asked again, it comes from memory", /from memory/.test(await page.textContent("#answer-note")));
  await ask("Who invented the zeppelin engine?");
  check("what the documents lack is not answered", /abstained/.test(await page.textContent("#answer-note")));

  await page.waitForTimeout(2500);
  await page.getByRole("link", { name: "Dashboard" }).click();
  await page.waitForSelector("#chart-ratio svg .dot");
  check("the dashboard shows the hit that was made", /of 3/.test(await page.textContent("#figures")) && /33\.3/.test(await page.textContent("#figures")));
  check("hot and unanswered questions are named", /grey heron/.test(await page.textContent("#hot")) && /zeppelin/.test(await page.textContent("#unanswered")));
  await page.screenshot({ path: pictures + "/page-dashboard.png" });

  await page.setViewportSize({ width: 360, height: 740 });
  for (const view of ["ask", "documents", "dashboard"]) {
    await page.goto(url + "/#" + view);
    await page.waitForTimeout(200);
    check("a phone shows the view " + view + " without scrolling sideways", await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  }
  check("nothing went wrong on the console: " + wrong.join("; "), wrong.length === 0);
  console.log("1.." + n);
  await browser.close();
})().catch((e) => {
  console.log("not ok " + (n + 1) + " - " + e.message.split("\n")[0]);
  process.exit(1);
});
