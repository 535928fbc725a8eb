"use strict";
// The page of one Forage service: ask, read the cited passage where it stands, add documents.
// Everything that comes from documents is put in by textContent, never as markup.
const $ = (id) => document.getElementById(id);

function element(tag, text, className) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (className) e.className = className;
  return e;
}

async function call(path, options) {
  const reply = await fetch(path, options);
  const body = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new Error(body.error ? body.error.message : reply.status + " " + reply.statusText);
  return body;
}

async function loadCollections() {
  const { data } = await call("/collections");
  const chosen = $("collection").value;
  $("collection").replaceChildren(...data.map((c) => {
    const o = element("option", c.name);
    o.value = c.name;
    return o;
  }));
  if (!data.length) {
    const o = element("option", "default");
    o.value = "default";
    $("collection").append(o);
  }
  if (data.some((c) => c.name === chosen)) $("collection").value = chosen;
  $("collections").replaceChildren(...data.map((c) => {
    const row = element("tr");
    for (const v of [c.name, c.documents, c.chunks, c.language]) row.append(element("td", String(v)));
    return row;
  }));
  $("list-collection").replaceChildren(...data.map((c) => {
    const o = element("option", c.name);
    o.value = c.name;
    return o;
  }));
  const n = data.reduce((sum, c) => sum + c.documents, 0);
  $("status").textContent = n === 1 ? "1 document" : n + " documents";
}

// Offsets of the API count code points; a JavaScript string counts UTF-16 units.
function cut(text, start, end) {
  const points = Array.from(text);
  return [points.slice(0, start).join(""), points.slice(start, end).join(""), points.slice(end).join("")];
}

async function openSource(collection, source) {
  const doc = await call("/documents/" + encodeURIComponent(source.document_id) +
    "?collection=" + encodeURIComponent(collection));
  const [before, passage, after] = cut(doc.text, source.start, source.end);
  $("reader-title").textContent = doc.title || doc.uri || doc.id;
  $("reader-note").textContent = [doc.uri, "characters " + source.start + " to " + source.end].filter(Boolean).join(" · ");
  const mark = element("mark", passage);
  $("reader-text").replaceChildren(before, mark, after);
  $("reader").hidden = false;
  mark.scrollIntoView({ block: "center" });
  $("reader-text").focus();
}

// The answer with its markers [n] as chips that open the cited passage.
function fillAnswer(collection, answer, citations) {
  const known = new Map(citations.map((c) => [c.index, c]));
  const parts = answer.split(/(\[\d+\])/).map((part) => {
    const m = /^\[(\d+)\]$/.exec(part);
    const c = m && known.get(Number(m[1]));
    if (!c) return part;
    const chip = element("button", m[1], c.verified ? "chip verified" : "chip");
    chip.type = "button";
    chip.title = c.quote;
    chip.setAttribute("aria-label", "Source " + m[1] + ": " + (c.source.title || c.source.uri || c.source.document_id));
    chip.addEventListener("click", () => openSource(collection, c.source).catch(showError));
    return chip;
  });
  $("answer-text").replaceChildren(...parts);
}

const score = (v) => (v === null || v === undefined ? "–" : v.toFixed(3));

function showDetails(collection, a) {
  $("contexts").replaceChildren(...a.contexts.map((c) => {
    const row = element("tr");
    const open = element("button", c.title || c.uri || c.chunk_id, "link");
    open.type = "button";
    open.addEventListener("click", () => openSource(collection, c).catch(showError));
    const cell = element("td");
    cell.append(open);
    row.append(cell);
    for (const v of [c.score, c.scores && c.scores.dense, c.scores && c.scores.sparse]) row.append(element("td", score(v)));
    return row;
  }));
  $("timings").textContent = Object.entries(a.timings_ms).filter(([, v]) => v > 0)
    .map(([k, v]) => k.replace("_", " ") + " " + v.toFixed(2) + " ms").join(" · ");
}

function showAnswer(collection, a) {
  fillAnswer(collection, a.answer || "", a.citations);
  if (!a.answer) $("answer-text").textContent = a.status === "no_context"
    ? "Nothing in this collection matches the question."
    : "The documents do not answer this.";
  const remembered = a.cache.answer === "hit" ? "from memory" : a.answer_source;
  $("answer-note").textContent = a.status + " · " + remembered + " · " + a.timings_ms.total.toFixed(2) + " ms";
  const entry = (source, quote, number, verified) => {
    const li = element("li");
    if (number) li.value = number;
    const open = element("button", source.title || source.uri || source.document_id, "link");
    open.type = "button";
    open.addEventListener("click", () => openSource(collection, source).catch(showError));
    li.append(open);
    if (verified) li.append(" ", element("span", "verified", "note"));
    li.append(element("blockquote", quote));
    return li;
  };
  const items = a.citations.length
    ? a.citations.map((c) => entry(c.source, c.quote, c.index, c.verified))
    : a.contexts.slice(0, 5).map((c) => entry(c, c.text.slice(0, 300) + (c.text.length > 300 ? "…" : "")));
  $("sources").replaceChildren(...items);
  showDetails(collection, a);
  $("answer").hidden = false;
}

// Server-sent events of a POST, which EventSource cannot make: on(event, data) for each.
async function streamEvents(path, body, on) {
  const reply = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!reply.ok) {
    const failed = await reply.json().catch(() => ({}));
    throw new Error(failed.error ? failed.error.message : reply.status + " " + reply.statusText);
  }
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let pending = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    pending += value;
    const events = pending.split("\n\n");
    pending = events.pop();
    for (const e of events) {
      const name = /^event: (.*)$/m.exec(e), data = /^data: (.*)$/m.exec(e);
      if (name && data) on(name[1], JSON.parse(data[1]));
    }
  }
}

function showError(e) {
  $("answer-text").replaceChildren(element("span", e.message, "error"));
  $("answer-note").textContent = "";
  $("sources").replaceChildren();
  $("answer").hidden = false;
}

$("ask-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = event.submitter || $("ask-form").querySelector("button");
  const collection = $("collection").value;
  button.disabled = true;
  $("reader").hidden = true;
  $("sources").replaceChildren();
  $("answer-note").textContent = "…";
  $("answer-text").replaceChildren();
  $("answer").hidden = false;
  let answer = "", finished = false;
  const citations = [];
  try {
    await streamEvents("/query", {
      query: $("question").value,
      collection,
      top_k: Number($("top-k").value) || 8,
      search: { mode: $("mode").value },
      stream: true,
    }, (name, data) => {
      if (name === "error") throw new Error(data.error.message);
      if (name === "token") answer += data.text;
      if (name === "citation") citations.push(data);
      if (name === "token" || name === "citation") fillAnswer(collection, answer, citations);
      if (name === "done") {
        finished = true;
        showAnswer(collection, data);
      }
    });
    if (!finished) throw new Error("The connection ended before the answer did.");
  } catch (e) {
    showError(e);
  } finally {
    button.disabled = false;
  }
});

$("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    $("ask-form").requestSubmit();
  }
});

// XMLHttpRequest: fetch does not tell how much of a body has gone out.
function send(form, progress) {
  return new Promise((resolve, reject) => {
    const x = new XMLHttpRequest();
    x.open("POST", "/ingest");
    x.responseType = "json";
    x.upload.addEventListener("progress", (e) => e.lengthComputable && progress(e.loaded / e.total));
    x.addEventListener("load", () => x.status < 300 ? resolve(x.response)
      : reject(new Error(x.response && x.response.error ? x.response.error.message : "status " + x.status)));
    x.addEventListener("error", () => reject(new Error("The service cannot be reached.")));
    x.send(form);
  });
}

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
for (const name of ["dragover", "drop"]) {
  $("view-documents").addEventListener(name, (event) => {
    event.preventDefault();
    if (name === "drop" && event.dataTransfer.files.length) upload(event.dataTransfer.files);
  });
}

async function loadDocuments(after) {
  const collection = $("list-collection").value;
  if (!collection) return;
  const page = await call("/documents?limit=50&collection=" + encodeURIComponent(collection) +
    (after ? "&after=" + encodeURIComponent(after) : ""));
  const rows = page.data.map((d) => {
    const row = element("tr"), cell = element("td");
    const remove = element("button", "Delete", "link");
    remove.type = "button";
    remove.setAttribute("aria-label", "Delete " + (d.title || d.uri || d.id));
    remove.addEventListener("click", async () => {
      if (!confirm("Delete " + (d.title || d.uri || d.id) + "?")) return;
      try {
        await call("/documents/" + encodeURIComponent(d.id) + "?collection=" + encodeURIComponent(collection), { method: "DELETE" });
        row.remove();
        await loadCollections();
        $("list-collection").value = collection;
      } catch (e) {
        $("upload-note").textContent = e.message;
      }
    });
    cell.append(remove);
    row.append(element("td", d.title || d.uri || ""), element("td", d.id), element("td", String(d.chunks)), cell);
    return row;
  });
  if (after) $("documents-list").append(...rows);
  else $("documents-list").replaceChildren(...rows);
  $("more").hidden = !page.has_more;
  $("more").onclick = () => loadDocuments(page.last_id);
}
$("list-collection").addEventListener("change", () => loadDocuments());

const views = ["ask", "documents", "dashboard"];
function showView() {
  const view = views.includes(location.hash.slice(1)) ? location.hash.slice(1) : "ask";
  for (const v of views) $("view-" + v).hidden = v !== view;
  for (const a of document.querySelectorAll("nav a")) {
    if (a.hash === "#" + view) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  if (view === "documents") loadDocuments().catch((e) => { $("upload-note").textContent = e.message; });
  document.dispatchEvent(new CustomEvent("view", { detail: view }));
}
addEventListener("hashchange", showView);

loadCollections().then(showView).catch((e) => { $("status").textContent = e.message; });
