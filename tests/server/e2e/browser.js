// Starts the browser for the tests of the page; run alone, says whether it starts at all:
//     node browser.js CHROMIUM
"use strict";
const { chromium } = require("playwright-core");

exports.launch = (executablePath) => chromium.launch({
  executablePath,
  timeout: 90000,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run"],
});

if (require.main === module)
  exports.launch(process.argv[2]).then((b) => b.close()).catch((e) => {
    console.error("# " + e.message.split("\n")[0]);
    process.exitCode = 1;
  });
