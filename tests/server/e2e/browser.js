// Starts the browser for the tests of the page, Debian's chromium or its firefox-esr, each as it comes; run alone, says
// whether it starts at all:
//     node browser.js PROGRAM
"use strict";
const path = require("path");
const { chromium, firefox } = require("playwright-core");

// Playwright drives a Firefox that is not its own by WebDriver BiDi.
exports.isFirefox = (executablePath) => /firefox/.test(path.basename(executablePath));

exports.launch = (executablePath) => (exports.isFirefox(executablePath)
  ? firefox.launch({ channel: "moz-firefox", executablePath, timeout: 90000 })
  : chromium.launch({
    executablePath,
    timeout: 90000,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run"],
  }));

if (require.main === module)
  exports.launch(process.argv[2]).then((b) => b.close()).catch((e) => {
    console.error("# " + e.message.split("\n")[0]);
    process.exitCode = 1;
  });
