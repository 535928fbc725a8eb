// Documents and collections: what is there, more of it, less of it.
import { $, element, call, send } from "/assets/api.js";

const option = (name) => {
  const o = element("option", name);
  o.value = name;
  return o;
};

function fillSelect(select, names) {
  const chosen = select.value;
  select.replaceChildren(...names.map(option));
  if (names.includes(chosen)) select.value = chosen;
}

function removal(what, act) {
  const cell = element("td", null, "action"), button = element("button", "Delete", "link");
  button.type = "button";
  button.setAttribute("aria-label", "Delete " + what);
  button.addEventListener("click", async () => {
    if (!confirm("Delete " + what + "?")) return;
    try {
      await act();
    } catch (e) {
      $("upload-note").textContent = e.message;
    }
  });
  cell.append(button);
  return cell;
}

// A row that says why a table has no others.
function remark(text, className) {
  const row = element("tr"), cell = element("td", text, className);
  cell.colSpan = 5;
  row.append(cell);
  return row;
}

export async function loadCollections() {
  const { data } = await call("/collections");
  const names = data.map((c) => c.name);
  fillSelect($("collection"), names.length ? names : ["default"]);
  fillSelect($("list-collection"), names);
  $("list-collection").parentElement.hidden = !names.length;
  $("collections").replaceChildren(...data.map((c) => {
    const row = element("tr");
    row.append(element("td", c.name), element("td", String(c.documents), "number"),
      element("td", String(c.chunks), "number wide"), element("td", c.language, "wide"),
      removal("collection " + c.name + " with " + c.documents + " documents", async () => {
        await call("/collections/" + encodeURIComponent(c.name), { method: "DELETE" });
        await loadCollections();
        await loadDocuments();
      }));
    return row;
  }));
  if (!data.length) $("collections").append(remark("None yet: the first document makes one.", "note"));
  const n = data.reduce((sum, c) => sum + c.documents, 0);
  $("status").textContent = n === 1 ? "1 document" : n + " documents";
  $("nothing-yet").hidden = n > 0;
}

const NONE = "There are no documents here yet: choose files above, or drop them on this page.";
let latest = 0; // a slow reply must not cover a later one

export async function loadDocuments(after) {
  const mine = ++latest;
  const collection = $("list-collection").value;
  let page = { data: [] };
  if (collection) {
    try {
      page = await call("/documents?limit=50&collection=" + encodeURIComponent(collection) +
        (after ? "&after=" + encodeURIComponent(after) : ""));
    } catch (e) {
      if (mine !== latest) return;
      if (!after) $("documents-list").replaceChildren();
      $("documents-list").append(remark(e.message, "error"));
      return;
    }
  }
  if (mine !== latest) return;
  const rows = page.data.map((d) => {
    const row = element("tr");
    row.append(element("td", d.title || d.uri || ""), element("td", d.id), element("td", String(d.chunks), "number wide"),
      removal(d.title || d.uri || d.id, async () => {
        await call("/documents/" + encodeURIComponent(d.id) + "?collection=" + encodeURIComponent(collection), { method: "DELETE" });
        row.remove();
        if (!$("documents-list").children.length) $("documents-list").append(remark(NONE, "note"));
        await loadCollections();
      }));
    return row;
  });
  if (!after && !rows.length) rows.push(remark(NONE, "note"));
  if (after) $("documents-list").append(...rows);
  else $("documents-list").replaceChildren(...rows);
  $("more").hidden = !page.has_more;
  $("more").onclick = () => loadDocuments(page.last_id);
}
$("list-collection").addEventListener("change", () => loadDocuments());

async function upload(files) {
  const button = $("upload").querySelector("button"), bar = $("upload-progress");
  const form = new FormData();
  form.append("collection", $("upload-collection").value);
  for (const f of files) form.append("file", f, f.name);
  button.disabled = true;
  bar.hidden = false;
  bar.value = 0;
  $("upload-note").textContent = "Uploading…";
  $("upload-results").replaceChildren();
  try {
    const r = await send(form, (share) => {
      bar.value = share;
      if (share === 1) $("upload-note").textContent = "Reading and indexing…";
    });
    const failed = r.results.filter((d) => d.status === "failed");
    $("upload-note").textContent = (r.results.length - failed.length) + " of " + r.results.length +
      " documents are in and can be asked about, " + (r.timings_ms.total / 1000).toFixed(2) + " s";
    $("upload-results").replaceChildren(...failed.map((d) => element("li", (d.id || "a file") + ": " + d.error.message, "error")));
    await loadCollections();
    await loadDocuments();
  } catch (e) {
    $("upload-note").textContent = e.message;
  } finally {
    button.disabled = false;
    bar.hidden = true;
  }
}

$("upload").addEventListener("submit", (event) => {
  event.preventDefault();
  upload($("files").files);
});
for (const name of ["dragover", "dragleave", "drop"]) {
  $("view-documents").addEventListener(name, (event) => {
    event.preventDefault();
    $("drop").classList.toggle("over", name === "dragover");
    if (name === "drop" && event.dataTransfer.files.length) upload(event.dataTransfer.files);
  });
}
