// Who one is here, what the service runs with, and its keys for those who may make them.
import { belongsTo, call, put, useKey } from "/assets/api.js";
import { $, asks, bytes, copy, count, element, field, option, tell } from "/assets/dom.js";

const SCOPES = { read: "ask and read", ingest: "bring documents and take them out", admin: "all of that, collections and keys", metrics: "see figures of the service" };

export let session = { keys: false, key: null, name: "", tenant: "default", read_only: false, may: { read: true } };

export async function loadSession() {
  session = await call("/session");
  belongsTo(session);
  const writes = session.may.ingest && !session.read_only;
  for (const e of document.querySelectorAll("#upload-section, #make-collection, #nothing-yet .adding")) e.hidden = !writes;
  $("nothing-given").hidden = writes;
  $("plain-figures").hidden = session.keys; // a link sends no key
  document.body.classList.toggle("no-writing", !writes);
  $("delete-collection").classList.toggle("no", !session.may.admin || session.read_only);
  return session;
}

const facts = (dl, rows) => dl.replaceChildren(...rows.filter(([, v]) => v !== undefined && v !== "").map(([k, v]) => {
  const d = element("div");
  d.append(element("dt", k), element("dd", v));
  return d;
}));

function showYou() {
  const may = Object.keys(SCOPES).filter((s) => session.may[s]).map((s) => SCOPES[s]);
  facts($("you"), [
    ["Name", session.keys ? session.name : "nobody in particular: no keys are asked for"],
    ["Key", session.key || ""],
    ["Tenant", session.tenant],
    ["You may", session.may.admin && session.may.operate ? "do everything" : may.join("; ")],
    ["This service", session.read_only ? "only reads: nothing can be changed here" : "reads and writes"],
  ]);
}

const KINDS = { embedder: "finds passages by meaning", generator: "writes answers", reranker: "puts passages in order", grounded: "answers from a collection" };

async function showModels() {
  const { data } = await call("/v1/models");
  $("models").replaceChildren(...data.filter((m) => m.kind !== "grounded").map((m) => {
    const li = element("li");
    li.append(element("strong", m.id), element("span", KINDS[m.kind] || m.kind || "", "note"));
    return li;
  }));
  if (!data.some((m) => m.kind === "generator")) $("models").append(element("li", "No language model is loaded: answers are made of the documents' own sentences. Start the service with --model FILE to have them written.", "note"));
}

async function showLimits() {
  $("limits-section").hidden = !session.may.metrics;
  if (!session.may.metrics) return;
  const s = await call("/stats"), g = s.generator;
  facts($("limits"), [
    ["Version", s.version],
    ["Running for", count(Math.round(s.uptime_s / 60), "minute")],
    ["Largest document", bytes(session.max_document_bytes)],
    ["Holds", count(s.documents, "document") + ", " + count(s.chunks, "passage")],
    ["On disk", bytes(s.database_bytes + s.index_file_bytes) + (s.free_disk_bytes >= 0 ? ", " + bytes(s.free_disk_bytes) + " free" : "")],
    ["Memory", s.resident_bytes ? bytes(s.resident_bytes) : ""],
    ["Processor", s.cpu.name + ", " + s.cpu.isa + ", " + count(s.cpu.threads, "thread")],
    ["Language model", g ? g.name || count(g.running || 0, "request") + " running" : "none"],
    ["Vectors", s.embedder.name + ", " + s.embedder.dim + " numbers each"],
    ["Requests", s.http.running + " at work, " + s.http.queued + " waiting, " + s.http.rejected + " sent away"],
  ]);
}

const LEVELS = ["debug", "info", "warn", "error", "off"];

async function showLog() {
  if (!session.may.operate || !session.may.metrics) return;
  const { level } = await call("/admin/log-level");
  const row = element("div"), name = element("dt"), value = element("dd"), label = element("label", "Log"), select = element("select");
  label.htmlFor = select.id = "log-level";
  select.append(...LEVELS.map((l) => option(l, l)));
  select.value = level;
  select.addEventListener("change", async () => {
    try {
      await put("POST", "/admin/log-level", { level: select.value });
      tell("Logged from now on, until the next start: " + select.value + ".");
    } catch (e) {
      tell(e.message);
    }
  });
  name.append(label);
  value.append(select);
  row.append(name, value);
  $("limits").append(row);
}

// ---- keys ------------------------------------------------------------------------------------

function keyRow(k) {
  const tr = element("tr"), act = element("td", null, "action"), name = element("td", k.name);
  const state = k.revoked_at ? "revoked" : k.expires_at && Date.parse(k.expires_at) <= Date.now() ? "expired" : k.expires_at ? "until " + new Date(k.expires_at).toLocaleDateString() : "";
  if (k.id === session.key) name.append(" ", element("span", "yours", "tag"));
  if (state) name.append(" ", element("span", state, "tag"));
  name.append(element("span", k.id + (k.tenant === "default" ? "" : " · tenant " + k.tenant), "note"));
  if (!k.revoked_at && k.id !== session.key) {
    const b = element("button", "Revoke", "link danger");
    b.type = "button";
    b.setAttribute("aria-label", "Revoke " + k.name);
    b.addEventListener("click", async () => {
      if (await asks({ title: "Revoke the key " + k.name + "?", danger: true, yes: "Revoke", body: [element("p", "Who uses it is refused at once. It cannot be taken back; a new key of the same name goes on with its conversations.")],
        act: () => call("/keys/" + encodeURIComponent(k.id), { method: "DELETE" }) })) {
        await showKeys();
        $("keys-title").focus(); // its button is gone
        tell("Revoked.");
      }
    });
    act.append(b);
  }
  tr.append(name, element("td", k.scopes.join(", ")), element("td", k.collections && k.collections.length ? k.collections.join(", ") : "all", "wide"), element("td", new Date(k.created_at).toLocaleDateString(), "wide when"), act);
  if (k.revoked_at) tr.className = "muted";
  return tr;
}

async function showKeys() {
  $("make-key").hidden = $("keys-scroll").hidden = !session.may.operate;
  if (!session.may.operate) {
    $("keys-note").textContent = "Keys are made by an admin of this service.";
    return;
  }
  const { data } = await call("/keys");
  $("keys").replaceChildren(...data.reverse().map(keyRow));
  $("keys-scroll").hidden = !data.length;
  $("make-key").disabled = session.read_only;
  $("keys-note").textContent = session.keys ? "" : "No keys are asked for yet. Once there is one, everybody needs one, you too.";
}

$("make-key").addEventListener("click", async () => {
  const name = element("input"), scope = element("select"), collections = element("input"), days = element("input");
  name.required = true;
  name.maxLength = 64;
  scope.append(...Object.entries(SCOPES).map(([s, words]) => option(s, s + ": " + words)));
  if (!session.keys) scope.value = "admin"; // the first one: nobody shall lock himself out
  collections.placeholder = "all";
  days.type = "number";
  days.min = 1;
  days.max = 36500;
  days.placeholder = "never";
  const read = (input) => input.value.split(/[\s,]+/).filter(Boolean);
  const first = !session.keys;
  let made = null;
  const scopes = () => (scope.value === "ingest" ? ["read", "ingest"] : [scope.value]);
  if (!(await asks({ title: "New key", yes: "Make it",
    body: [field("Whose or what for", name), field("May", scope), field("Collections, with commas between", collections), field("Expires after days", days),
      ...(first ? [element("p", "This is the first key: from then on everybody needs one. This page will use it.", "note")] : [])],
    act: async () => {
      if (first && scope.value !== "admin") throw new Error("The first key must be an admin's, or nobody could make another here.");
      made = await put("POST", "/keys", { name: name.value.trim(), scopes: scopes(), ...(read(collections).length ? { collections: read(collections) } : {}), ...(days.value ? { expires_days: Number(days.value) } : {}) });
    } }))) return;
  if (first) useKey(made.key);
  const secret = element("code", made.key, "link-text");
  await asks({ title: "The key of " + name.value.trim(), yes: "Copy it", no: "Done", body: [element("p", "It is shown this once and not kept. Send it as Authorization: Bearer KEY."), secret],
    act: async () => {
      await copy(made.key);
      tell("Copied.");
    } });
  await loadSession().catch(() => {});
  for (let i = 0; first && !session.keys && i < 20; i++) { // the service looks for keys a few times a second
    await new Promise((r) => setTimeout(r, 150));
    await loadSession().catch(() => {});
  }
  showYou();
  await showKeys();
});

export async function showSettings() {
  await loadSession();
  showYou();
  await Promise.all([showModels(), showLimits().then(showLog), showKeys()]);
}
