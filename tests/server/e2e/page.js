// The web page as people use it all day, in a real browser: twenty stories, each with its pictures. Run by
// ../page_test.sh and ../page_firefox_test.sh:
//     node page.js URL BROWSER FOLDER URL_WITHOUT_KEYS_YET [URL of a service with a language model]
"use strict";
const { isFirefox, launch } = require("./browser.js");
const { check, listen, next, plan, wrong } = require("./stories.js");
const asking = require("./asking.js");
const conversations = require("./kept.js");
const documents = require("./filling.js");
const sharing = require("./sharing.js");
const staying = require("./staying.js");
const states = require("./states.js");
const troubled = require("./troubled.js");
const [url, executablePath, pictures, keyed, writer] = process.argv.slice(2);

(async () => {
  const browser = await launch(executablePath);
  const policy = (await fetch(url)).headers.get("content-security-policy") || "";
  check("the policy lets nothing in but the service's own files", /default-src 'none'/.test(policy) && !/unsafe|https?:|\*/.test(policy), policy);
  const foreign = [];
  const newPage = browser.newPage.bind(browser);
  browser.newPage = async (options) => {
    const page = await newPage(options);
    // For a picture of Firefox Playwright puts a style of its own into the page, which its policy refuses and tells of.
    if (isFirefox(executablePath)) page.screenshot = async () => {};
    page.on("request", (r) => !/^(http:\/\/127\.0\.0\.1:|data:|about:|blob:)/.test(r.url()) && foreign.push(r.url()));
    return listen(page);
  };
  const on = { browser, url, pictures, keyed, writer };
  await states.empty(on);
  await asking.stories(on);
  await conversations.stories(on);
  await staying.stories(on);
  await documents.stories(on);
  await states.stories(on);
  await troubled.stories(on);
  await sharing.stories(on);
  if (!isFirefox(executablePath)) await asking.everywhere(on);
  check("nothing was asked of anybody else", foreign.length === 0, foreign.join(" "));
  check("nothing went wrong on the console", wrong.length === 0, wrong.join("; "));
  plan();
  await browser.close();
})().catch((e) => {
  console.log("not ok " + next() + " - " + e.message.split("\n").slice(0, 3).join(" "));
  process.exit(1);
});
