// Stories of a service that gets its keys on the page: the first key is made, others by it; what one shares the other
// reads, and goes on with a copy of his own.
"use strict";
const { between } = require("./between.js");
const { revoked } = require("./staying.js");
const { accessible, ask, check, last, open, until } = require("./stories.js");

async function firstKey({ browser, keyed, pictures }) {
  let make = null; // lets the service make the key
  const relay = await between(keyed, (req) => (req.method === "POST" && req.url === "/keys" ? new Promise((go) => { make = () => go(false); }) : false));
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 } });
  await open(page, relay.url + "/#settings");
  await until(page, () => /No keys are asked for yet/.test(document.getElementById("keys-note").textContent));
  await page.selectOption("#log-level", "error");
  await until(page, () => /from now on.*error/.test(document.getElementById("told").textContent));
  check("how much is logged is changed in the settings", (await (await fetch(keyed + "/admin/log-level")).json()).level === "error");
  await page.click("#make-key");
  await page.fill("#asks input", "boss");
  await page.selectOption("#asks select", "read");
  await page.click("#asks-yes");
  await page.waitForSelector("#asks-error:not([hidden])");
  check("a first key with which nobody could make another is refused", /admin/.test(await page.textContent("#asks-error")));
  await page.selectOption("#asks select", "admin");
  await accessible(page, "the dialog of a new key is accessible");
  await page.click("#asks-yes");
  await page.keyboard.press("Escape");
  await until(page, () => document.getElementById("asks-no").disabled);
  check("a key that is being made is waited for", await page.isVisible("#asks"));
  for (let i = 0; i < 200 && !make; i++) await page.waitForTimeout(50);
  make();
  await until(page, () => /^fk_/.test(document.querySelector("#asks .link-text")?.textContent || ""));
  const key = await page.textContent("#asks .link-text");
  await page.click("#asks-no");
  await until(page, () => /boss.*yours/.test(document.getElementById("keys").textContent));
  check("the first key is made in the settings, and the page goes on with it", await page.isVisible("#forget-key"));
  await page.screenshot({ path: pictures + "/page-keys.png" });
  await page.close();
  await relay.close();
  return key;
}

async function shared({ browser, keyed, pictures }, admin) {
  const as = (key, method, path, body) => fetch(keyed + path, { method, headers: { "Content-Type": "application/json", Authorization: "Bearer " + key }, body: JSON.stringify(body) }).then((r) => r.json());
  const make = async (name) => (await as(admin, "POST", "/keys", { name, scopes: ["read"] })).key;
  await as(admin, "POST", "/ingest", { documents: [{ id: "heron", title: "Heron", text: "The grey heron stands one metre tall." }] });
  const ann = await make("ann"), bob = await make("bob");
  const sit = async (key) => { // each at a browser of his own
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 } });
    const page = await context.newPage();
    await page.goto(keyed + "/openapi.json");
    await page.evaluate((k) => sessionStorage.setItem("forage-api-key", k), key);
    return page;
  };
  for (let i = 0; i < 50 && (await fetch(keyed + "/session", { headers: { Authorization: "Bearer " + bob } })).status !== 200; i++) await new Promise((r) => setTimeout(r, 100));
  const hers = await sit(ann), his = await sit(bob);
  await hers.goto(keyed + "/#ask");
  await until(hers, () => document.getElementById("collection").options.length > 0);
  await ask(hers, "How tall is the grey heron?");
  await until(hers, () => /^#ask\/c_/.test(location.hash));
  const link = hers.url();
  await his.goto(link);
  await until(his, () => /no such conversation/.test(document.getElementById("told").textContent));
  check("what is not shared nobody else opens", true);
  await hers.getByRole("button", { name: "Share the conversation" }).click();
  await hers.click("#asks-yes");
  await until(hers, () => document.querySelector("#kept .tag"));
  await open(his, link);
  await until(his, () => document.querySelector(".turn .chip"));
  check("what is shared is read by its link, and cannot be changed", await his.isVisible("#theirs") && await his.isHidden("#ask-form") && await his.isHidden("#conversation-actions") && await his.locator(".acts [aria-pressed]").count() === 0);
  await accessible(his, "that is accessible");
  await his.screenshot({ path: pictures + "/page-shared.png" });
  await last(his, ".chip").first().click();
  await his.waitForSelector("#reader-text mark");
  check("its sources open", /one metre/.test(await his.textContent("#reader-text mark")));
  await his.click("#adopt");
  await until(his, () => document.getElementById("theirs").hidden && document.querySelectorAll("#kept a").length === 1);
  await ask(his, "And how tall is it?");
  check("a copy is gone on with", await his.locator(".turn").count() === 2 && his.url() !== link);
  await hers.reload();
  await until(hers, () => document.querySelector(".turn .chip"));
  check("and the first stays as it was", await hers.locator(".turn").count() === 1);
  await hers.context().close();
  await his.context().close();
}

exports.stories = async (on) => {
  const admin = await firstKey(on);
  await shared(on, admin);
  await revoked(on, admin);
};
