// What the stories of the page share: checks, pages that say what went wrong, asking, and the two judges of
// accessibility: access.js and axe-core, where that is there.
"use strict";
const fs = require("fs");
const { audit } = require("./access.js");

let n = 0;
exports.check = (sentence, holds, why) => {
  n++;
  console.log((holds ? "ok " : "not ok ") + n + " - " + sentence + (holds || why === undefined ? "" : ": " + why));
};
exports.plan = () => console.log("1.." + n);
exports.next = () => n + 1;

exports.wrong = []; // what the console said
exports.listen = (page) => {
  page.setDefaultTimeout(150000);
  page.on("console", (m) => m.type() === "error" && !/40[134] \(|429 \(|503 \(/.test(m.text()) && exports.wrong.push(m.text()));
  page.on("pageerror", (e) => exports.wrong.push(e.message));
  return page;
};

exports.until = (page, f, arg) => page.waitForFunction(f, arg, { timeout: 150000 });

exports.open = async (page, at) => {
  await page.goto("about:blank"); // a new hash alone loads nothing
  await page.goto(at);
  await exports.until(page, () => document.getElementById("collection").options.length > 0);
};

// Asks, and waits for the answer that comes.
exports.ask = async (page, text) => {
  const before = await page.locator(".turn").count();
  await page.fill("#question", text);
  await page.press("#question", "Enter");
  await exports.until(page, (n) => document.querySelectorAll(".turn").length > n && document.getElementById("stop").hidden, before);
};
exports.last = (page, of) => page.locator(".turn:last-child " + of);

// The file that `act` has the browser keep: its name and text. Caught where the page hands it over, because WebDriver BiDi
// tells of no downloads.
exports.saved = async (page, act) => {
  await page.evaluate(() => {
    const make = URL.createObjectURL;
    URL.createObjectURL = (blob) => {
      window.savedBlob = blob;
      return make.call(URL, blob);
    };
    HTMLAnchorElement.prototype.click = function () { window.savedName = this.download; };
  });
  await act();
  await exports.until(page, () => window.savedName);
  return page.evaluate(async () => ({ name: window.savedName, text: await window.savedBlob.text() }));
};

let axe = null;
try {
  axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
} catch {
  console.log("# axe-core is not installed (.ci/deps.sh check): the rules of access.js alone are held");
}

// Everything that is wrong for readers with keyboards, screen readers and weak eyes. The page's policy lets no script
// in; what a test evaluates does not ask it.
exports.accessible = async (page, sentence) => {
  const found = await page.evaluate(audit);
  if (axe) {
    await page.evaluate(axe);
    const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    for (const v of result.violations) found.push("axe " + v.id + ": " + v.nodes.slice(0, 3).map((x) => x.target.join(" ")).join(", "));
  }
  exports.check(sentence + (axe ? " (axe too)" : ""), found.length === 0, found.join("; "));
};

// Wider than the window, or than the column that scrolls?
exports.tooWide = (page) => page.evaluate(() => {
  const m = document.querySelector("main");
  return Math.max(document.documentElement.scrollWidth - innerWidth, m.scrollWidth - m.clientWidth);
});
