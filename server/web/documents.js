// The documents of a collection: found by name and metadata, sorted, read, selected and deleted.
import { call } from "/assets/api.js";
import { areKnown, currentCollection, currentCounts, loadCollections } from "/assets/collections.js";
import { $, asks, bytes, count, element, tell, words } from "/assets/dom.js";
import { openSource } from "/assets/reader.js";

const PAGE = 50;
const MANY = 20000; // documents: for another order than that of ids the service looks at all of them
let order = null, latest = 0; // null: the one that suits; a slow reply must not cover a later one
let listed = 0; // in sight; where there are none, none are to be deleted
let failure = null; // the row that says why there are no more
const selected = new Set(); // ids

const orderNow = () => order || (currentCounts()?.documents > MANY ? "id" : "title");

// ---- what is asked for -----------------------------------------------------------------------

// What a value may be, as it is written. 2024 and true are a number and a truth value and, since metadata has them as
// either, strings as well; in quotation marks it is a string alone, as is a whole number that no double holds.
function valuesOf(text) {
  let v = text;
  try {
    v = JSON.parse(text);
  } catch { /* a string, then */ }
  if (typeof v === "string") return [v];
  if (typeof v !== "boolean" && !Number.isFinite(v)) return [text];
  return /^\s*-?\d+\s*$/.test(text) && BigInt(text) !== BigInt(v) ? [text] : [v, text];
}

function condition() {
  const key = $("filter-key").value.trim(), type = $("filter-type").value;
  if (!key) return null;
  if (type === "exists") return { type, key };
  const values = valuesOf($("filter-value").value), list = { eq: "in", ne: "nin" }[type];
  return list && values.length > 1 ? { type: list, key, value: values } : { type, key, value: values[0] };
}

const typedText = () => $("find-text").value.trim();
let narrowing = null; // what was applied of the fields; what is only typed is not asked for
let shown = new URLSearchParams(); // the query of the list in sight, which "Show more" and deleting are about

function query() {
  narrowing ||= { text: typedText(), filter: condition() };
  const q = new URLSearchParams({ collection: currentCollection() });
  if (narrowing.text) q.set("q", narrowing.text);
  if (narrowing.filter) q.set("filter", JSON.stringify(narrowing.filter));
  return q;
}
const narrowed = () => shown.has("q") || shown.has("filter");

// ---- the list --------------------------------------------------------------------------------

function showBulk() {
  const n = selected.size, all = narrowed() && listed > 0;
  $("bulk").hidden = !n && !all;
  $("bulk-note").textContent = n ? count(n, "document") + " selected"
    : ($("more").hidden ? "" : "More than ") + count(listed, "document matches", "documents match");
  $("bulk-delete").hidden = $("bulk-none").hidden = !n;
  $("bulk-all").hidden = !all || n > 0;
  const boxes = [...$("documents-list").querySelectorAll("input")];
  $("select-all").checked = boxes.length > 0 && boxes.every((b) => b.checked);
  $("select-all").disabled = !boxes.length;
}

function row(d) {
  const tr = element("tr"), check = element("td", null, "check"), box = element("input"), cell = element("td", null, "name"), name = d.title || d.uri || d.id;
  box.type = "checkbox";
  box.value = d.id;
  box.checked = selected.has(d.id);
  box.setAttribute("aria-label", "Select " + name);
  box.addEventListener("change", () => {
    if (box.checked) selected.add(d.id);
    else selected.delete(d.id);
    showBulk();
  });
  check.append(box);
  const open = words(element("button", name, "link"));
  open.type = "button";
  open.addEventListener("click", () => openSource(currentCollection(), { document_id: d.id }).catch((e) => tell(e.message)));
  cell.append(open);
  if (d.id !== name) cell.append(element("span", d.id, "note"));
  if (d.damaged) cell.append(element("span", "damaged", "tag error"));
  const facts = Object.entries(d.metadata || {}).filter(([, v]) => typeof v !== "object").slice(0, 6);
  if (facts.length) cell.append(element("span", facts.map(([k, v]) => k + ": " + v).join(" · "), "note"));
  tr.append(check, cell, element("td", d.text_bytes === undefined ? "" : bytes(d.text_bytes), "number wide"), element("td", d.updated_at ? new Date(d.updated_at).toLocaleDateString() : "", "wide when"));
  return tr;
}

// A row that says why a table has no others.
function remark(text, className) {
  const tr = element("tr"), cell = element("td", text, className);
  cell.colSpan = 4;
  tr.append(cell);
  return tr;
}

// Nothing that is not of the list that was asked for: a row of another collection would be opened and deleted in this one.
function clear() {
  $("documents-list").replaceChildren();
  listed = 0;
  $("more").hidden = true;
  $("list-note").textContent = "";
  showBulk();
}

// Where the first of them are not had, there are none; where others are not, those in sight stay, and can be gone on from.
function fail(e, after) {
  if (!after) clear();
  failure = remark(e.message, "error");
  $("documents-list").append(failure);
}

export async function loadDocuments(after) {
  const mine = ++latest;
  if (!after) shown = query();
  const q = new URLSearchParams(shown);
  showOrder();
  q.set("limit", PAGE);
  q.set("order", orderNow());
  if (after) q.set("after", after);
  let page = { data: [] };
  try {
    if (!areKnown()) return; // whether there are any cannot be said yet
    if (currentCounts()) page = await call("/documents?" + q);
  } catch (e) {
    if (mine !== latest) return;
    failure?.remove();
    fail(e, after);
    return;
  }
  if (mine !== latest) return;
  failure?.remove();
  failure = null;
  const rows = page.data.map(row);
  listed = rows.length + (after ? listed : 0);
  if (!after && !rows.length) rows.push(remark(narrowed() ? "No document fits." : "There are no documents here yet: drop some above.", "note"));
  if (after) $("documents-list").append(...rows);
  else $("documents-list").replaceChildren(...rows);
  const n = $("documents-list").querySelectorAll("input").length;
  $("more").hidden = !page.has_more;
  $("more").onclick = async () => {
    await loadDocuments(page.last_id);
    $("documents-list").querySelectorAll("button")[n]?.focus(); // the first of those that came
  };
  $("list-note").textContent = n ? n.toLocaleString() + (page.has_more ? " shown, there are more" : " shown") : "";
  showBulk();
}

function again() {
  selected.clear();
  loadDocuments();
}
addEventListener("collection", () => {
  clear();
  again();
});

function apply(filter) {
  narrowing = { text: typedText(), filter };
  again();
}

let typing = 0;
$("find-text").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => apply(narrowing?.filter), 250);
});
$("find-documents").addEventListener("submit", (event) => {
  event.preventDefault();
  apply(condition());
});
$("filter-clear").addEventListener("click", () => {
  $("filter-key").value = $("filter-value").value = "";
  apply(null);
});
$("filter-type").addEventListener("change", () => { $("filter-value").disabled = $("filter-type").value === "exists"; });

function showOrder() {
  const now = orderNow();
  for (const b of document.querySelectorAll(".sort")) {
    if (now.replace("-", "") === b.dataset.order) b.closest("th").setAttribute("aria-sort", now[0] === "-" ? "descending" : "ascending");
    else b.closest("th").removeAttribute("aria-sort");
  }
}
for (const b of document.querySelectorAll(".sort"))
  b.addEventListener("click", () => {
    const by = b.dataset.order, now = orderNow();
    order = now === by ? "-" + by : now === "-" + by || by === "title" ? by : "-" + by; // the largest and newest first
    again();
  });

// ---- fewer of them ---------------------------------------------------------------------------

$("select-all").addEventListener("change", () => {
  for (const b of $("documents-list").querySelectorAll("input")) {
    b.checked = $("select-all").checked;
    if (b.checked) selected.add(b.value);
    else selected.delete(b.value);
  }
  showBulk();
});
$("bulk-none").addEventListener("click", () => {
  selected.clear();
  for (const b of $("documents-list").querySelectorAll("input")) b.checked = false;
  showBulk();
  $("select-all").focus();
});

async function gone(n) {
  selected.clear();
  await loadCollections();
  await loadDocuments();
  $("documents-title").focus();
  tell(count(n, "document") + " deleted.");
}

$("bulk-delete").addEventListener("click", async () => {
  const ids = [...selected], of = "?collection=" + encodeURIComponent(shown.get("collection"));
  const note = element("p", "", "note");
  let looked = 0, deleted = 0;
  const went = await asks({ title: "Delete " + count(ids.length, "document") + "?", danger: true, yes: "Delete", stop: "Stop",
    body: [element("p", ids.slice(0, 5).join(", ") + (ids.length > 5 ? " and " + (ids.length - 5) + " more" : "")), note],
    act: async (signal) => {
      while (looked < ids.length && !signal.aborted) {
        await call("/documents/" + encodeURIComponent(ids[looked]) + of, { method: "DELETE" }).then(() => deleted++, (e) => {
          if (e.status !== 404) throw e; // somebody else was faster
        });
        note.textContent = ++looked + " of " + ids.length;
      }
    } });
  if (went || looked) await gone(deleted);
});

// All that the search and the filter match, also beyond what is shown: counted by a dry run first.
$("bulk-all").addEventListener("click", async () => {
  if (!narrowed()) return;
  const q = new URLSearchParams(shown);
  q.set("dry_run", "true");
  let would;
  try {
    would = await call("/documents?" + q, { method: "DELETE" });
  } catch (e) {
    tell(e.message);
    return;
  }
  if (!would.matched) { // gone since they were listed
    tell("No document matches any more.");
    again();
    return;
  }
  q.delete("dry_run");
  let n = 0;
  if (await asks({ title: would.matched === 1 ? "Delete the one document that matches?" : "Delete all " + count(would.matched, "document") + " that match?", danger: true, yes: "Delete " + would.matched.toLocaleString(),
    body: [element("p", "With " + count(would.chunks, "passage") + ", from " + q.get("collection") + ": " + (would.ids || []).slice(0, 5).join(", ") + (would.matched > 5 ? " and " + (would.matched - 5) + " more" : ""))],
    act: async () => { n = (await call("/documents?" + q, { method: "DELETE" })).deleted; } })) await gone(n);
});
