// Files and folders that are dropped or chosen: a queue, each file its own request, with what became of it.
import { send } from "/assets/api.js";
import { currentCollection, loadCollections } from "/assets/collections.js";
import { loadDocuments } from "/assets/documents.js";
import { $, button, bytes, count, element, tell } from "/assets/dom.js";
import { session } from "/assets/settings.js";

const AT_ONCE = 3, TRIES = 6, FILES_MAX = 20000, ROWS_MAX = 500; // rows that went well leave when there are more
const COUNTED_MAX = 10 * FILES_MAX; // of files that are left out; nobody waits for a whole disk to be counted
const queue = [];
let running = 0, total = 0, done = 0, leftOut = 0, stopping = null;
const failed = { refused: 0, unsent: 0, stopped: 0 }; // by the service; by the file, the network or a service that is away; by the reader
const unsent = new Set(); // those that did not reach the service: they go out again once it is back
let rows = 0, good = []; // in the list, and of them those that went well: to look for these costs each file a walk over all

// ---- what was dropped ------------------------------------------------------------------------

async function* inside(reader) {
  for (;;) { // a hundred at a time
    const some = await new Promise((yes, no) => reader.readEntries(yes, no));
    if (!some.length) return;
    yield* some;
  }
}

// Files below an entry, each with its path, and how many there are beyond FILES_MAX; what hides (a dot first) stays out,
// as on the command line. What cannot be read is found as such, and keeps nothing else from going in.
async function below(entry, path, found) {
  if (entry.name.startsWith(".") || found.left >= COUNTED_MAX) return;
  const here = path + entry.name;
  try {
    if (!entry.isFile) for await (const e of inside(entry.createReader())) await below(e, here + "/", found);
    else if (found.items.length >= FILES_MAX) found.left++;
    else found.items.push({ file: await new Promise((yes, no) => entry.file(yes, no)), path: here });
  } catch (e) {
    found.items.push({ unread: "cannot be read" + (e && e.message ? ": " + e.message : ""), path: here });
  }
}

const most = (items) => ({ items: items.slice(0, FILES_MAX), left: Math.max(0, items.length - FILES_MAX) });

async function dropped(transfer) {
  const entries = [...transfer.items].filter((i) => i.kind === "file").map((i) => (i.webkitGetAsEntry ? i.webkitGetAsEntry() : null));
  if (!entries.every(Boolean)) return most([...transfer.files].map((file) => ({ file, path: file.name })));
  const found = { items: [], left: 0 };
  for (const e of entries) await below(e, "", found);
  return found;
}

// ---- the queue -------------------------------------------------------------------------------

// What became of those that are not in, each kind with its number.
const failures = () => [[failed.refused, "refused"], [failed.unsent, "could not be sent"], [failed.stopped, "stopped"]]
  .filter(([n]) => n).map(([n, what]) => ", " + n.toLocaleString() + " " + what).join("");

function say() {
  const left = queue.length + running;
  $("upload-note").textContent = left
    ? (total - left).toLocaleString() + " of " + count(total, "file") + failures() + "…"
    : count(done, "file is", "files are") + " in and can be asked about" + failures() + ".";
  if (leftOut) $("upload-note").textContent += " " + (leftOut >= COUNTED_MAX ? "At least " : "") + count(leftOut, "file was", "files were") + " left out: "
    + FILES_MAX.toLocaleString() + " go in at once.";
  $("upload-progress").value = total ? (total - left) / total : 0;
  $("upload-progress").hidden = !left;
  $("upload-clear").textContent = left ? "Stop" : "Clear the list";
}

function rowOf(item) {
  const li = element("li", null, "file"), state = element("span", "waiting", "state");
  li.append(element("span", item.path, "path"), element("span", item.file ? bytes(item.file.size) : "", "note size"), state);
  item.li = li;
  item.state = state;
  $("upload-results").append(li);
  rows++;
}

// why: of `failed`, where the file is not in.
function settle(item, kind, words, why = null) {
  if (why) failed[why]++;
  item.li.className = "file " + kind;
  item.state.textContent = words;
  if (kind === "bad") $("upload-results").prepend(item.li); // what needs a look stands first
  else good.push(item.li);
  if (rows <= ROWS_MAX || !good.length) return;
  good.shift().remove();
  rows--;
}

// So long, or until all is stopped.
const pause = (ms, signal) => new Promise((over) => {
  const end = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    over();
  };
  const timer = setTimeout(end, ms);
  signal.addEventListener("abort", end);
});

async function one(item, signal) {
  const form = new FormData();
  form.append("collection", item.collection);
  form.append("id", item.path); // the same file again takes its place
  form.append("file", item.file, item.path);
  try {
    const r = await send(form, (share) => { item.state.textContent = share < 1 ? Math.round(100 * share) + " %" : "reading"; }, signal);
    const bad = r.results.filter((d) => d.status === "failed"), words = { created: "new", updated: "updated", unchanged: "unchanged" };
    if (bad.length === r.results.length && bad.length) throw Object.assign(new Error(bad[0].error.message), { status: 422 });
    done++;
    settle(item, bad.length ? "bad" : "good", bad.length ? count(bad.length, "part") + " refused: " + bad[0].error.message
      : r.results.length > 1 ? count(r.results.length, "document") : words[r.results[0]?.status] || "in");
  } catch (e) {
    if (e.name === "AbortError" || signal.aborted) settle(item, "bad", "stopped", "stopped");
    else if ((e.status === 429 && e.param === "requests") || // each file has its turn, however many there are
      ((e.status === 429 || e.status === 503) && (item.tries = (item.tries || 0) + 1) < TRIES)) { // busy: asked again
      item.state.textContent = "the service is busy, once more in a moment";
      await pause(1000 * Math.min(20, e.wait || 2), signal);
      if (signal.aborted) settle(item, "bad", "stopped", "stopped");
      else queue.unshift(item);
    } else {
      const why = !e.status || e.status >= 500 || e.status === 429 ? "unsent" : "refused";
      settle(item, "bad", e.message, why);
      const again = button("Try again", "link", () => {
        item.tries = 0;
        item.again();
      });
      item.again = () => {
        unsent.delete(item);
        failed[why]--;
        item.li.className = "file";
        item.state.textContent = "";
        if (document.activeElement === again) $("upload-clear").focus();
        again.remove();
        queue.push(item);
        pump();
      };
      if (!e.status) unsent.add(item);
      again.setAttribute("aria-label", "Try " + item.path + " again");
      if (why === "unsent") item.li.append(again);
    }
  }
}

async function pump() {
  stopping ||= new AbortController();
  while (running < AT_ONCE && queue.length) {
    running++;
    one(queue.shift(), stopping.signal).finally(async () => {
      running--;
      pump();
      if (!running && !queue.length) {
        stopping = null;
        await loadCollections().catch(() => {});
        await loadDocuments().catch(() => {});
      }
    });
  }
  say();
}

function add({ items, left }) {
  if (!items.length) return;
  if (!running && !queue.length) { // a new list
    total = done = leftOut = rows = 0;
    Object.assign(failed, { refused: 0, unsent: 0, stopped: 0 });
    unsent.clear();
    good = [];
    $("upload-results").replaceChildren();
  }
  $("uploads").hidden = false;
  for (const item of items) {
    item.collection = currentCollection();
    rowOf(item);
    if (item.file) queue.push(item);
    else settle(item, "bad", item.unread, "unsent");
  }
  total += items.length;
  leftOut += left;
  pump();
}

$("upload-clear").addEventListener("click", () => {
  if (running || queue.length) {
    for (const item of queue.splice(0)) settle(item, "bad", "stopped", "stopped");
    stopping?.abort();
    stopping = null; // what is added from now on is not stopped with it
    say();
    return;
  }
  $("uploads").hidden = true;
  unsent.clear();
  $("choose-files").focus();
});
// A file that breaks off the connection by itself, as one that was changed meanwhile does, is left to the reader.
addEventListener("reachable", () => {
  for (const item of [...unsent]) if ((item.tries = (item.tries || 0) + 1) < TRIES) item.again();
});
addEventListener("forgotten", () => { // the key that they go with
  unsent.clear();
  queue.length = 0;
  stopping?.abort();
});
addEventListener("beforeunload", (event) => (running || queue.length) && event.preventDefault()); // the browser asks first

// ---- where they come from --------------------------------------------------------------------

for (const [choose, input] of [["choose-files", "files"], ["choose-folder", "folder"]]) {
  $(choose).addEventListener("click", () => $(input).click());
  $(input).addEventListener("change", () => {
    add(most([...$(input).files].map((file) => ({ file, path: file.webkitRelativePath || file.name }))
      .filter((i) => !i.path.split("/").some((p) => p.startsWith(".")))));
    $(input).value = "";
  });
}

// Why nothing may be brought in, or nothing. As long as the service has not said who one is, it decides itself.
const refusal = () => (session.read_only ? "This service only reads: no documents can be brought in."
  : session.may.ingest === false ? "This key may not bring documents in." : "");

// Files may be dropped on any view; they are then looked at where documents are.
const carries = (event) => [...event.dataTransfer.types].includes("Files");
addEventListener("dragover", (event) => {
  if (!carries(event)) return;
  event.preventDefault();
  $("drop").classList.add("over");
});
addEventListener("dragleave", (event) => event.relatedTarget === null && $("drop").classList.remove("over"));
addEventListener("drop", async (event) => {
  $("drop").classList.remove("over");
  if (!carries(event)) return;
  event.preventDefault();
  if (refusal()) {
    tell(refusal());
    return;
  }
  const items = dropped(event.dataTransfer); // the entries are gone once this event is over
  location.hash = "#documents";
  add(await items);
});
