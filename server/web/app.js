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
  $("status").textContent = data.reduce((n, c) => n + c.documents, 0) + " documents";
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
  $("reader-title").textContent = doc.title || doc.id;
  $("reader-note").textContent = [doc.uri, "characters " + source.start + " to " + source.end].filter(Boolean).join(" · ");
  const mark = element("mark", passage);
  $("reader-text").replaceChildren(before, mark, after);
  $("reader").hidden = false;
  mark.scrollIntoView({ block: "center" });
  $("reader-text").focus();
}

function showAnswer(collection, a) {
  const text = $("answer-text");
  text.replaceChildren();
  const known = new Map(a.citations.map((c) => [c.index, c]));
  for (const part of (a.answer || "").split(/(\[\d+\])/)) {
    const m = /^\[(\d+)\]$/.exec(part);
    if (m && known.has(Number(m[1]))) {
      const link = element("a", part, "cite");
      link.href = "#source-" + m[1];
      text.append(link);
    } else {
      text.append(part);
    }
  }
  if (!a.answer) text.textContent = a.status === "no_context"
    ? "Nothing in this collection matches the question."
    : "The documents do not answer this.";
  $("answer-note").textContent = a.status + " · " + a.answer_source + " · " + a.timings_ms.total.toFixed(1) + " ms";
  const entry = (source, quote, number, verified) => {
    const li = element("li");
    if (number) {
      li.id = "source-" + number;
      li.value = number;
    }
    const open = element("button", source.title || source.document_id);
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
  $("answer").hidden = false;
}

function showError(e) {
  $("answer-text").replaceChildren(element("span", e.message, "error"));
  $("answer-note").textContent = "";
  $("sources").replaceChildren();
  $("answer").hidden = false;
}

$("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = event.submitter || $("ask").querySelector("button");
  const collection = $("collection").value;
  button.disabled = true;
  $("reader").hidden = true;
  try {
    showAnswer(collection, await call("/query", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        query: $("question").value,
        collection,
        top_k: Number($("top-k").value) || 8,
        search: { mode: $("mode").value },
      }),
    }));
  } catch (e) {
    showError(e);
  } finally {
    button.disabled = false;
  }
});

$("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    $("ask").requestSubmit();
  }
});

$("upload").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = event.submitter || $("upload").querySelector("button");
  const form = new FormData();
  form.append("collection", $("upload-collection").value);
  for (const f of $("files").files) form.append("file", f, f.name);
  button.disabled = true;
  $("upload-note").textContent = "Uploading…";
  $("upload-results").replaceChildren();
  try {
    const r = await call("/ingest", { method: "POST", body: form });
    const failed = r.results.filter((d) => d.status === "failed");
    $("upload-note").textContent = (r.results.length - failed.length) + " of " + r.results.length +
      " documents are in and can be asked about, " + (r.timings_ms.total / 1000).toFixed(2) + " s";
    $("upload-results").replaceChildren(...failed.map((d) => element("li", (d.id || "a file") + ": " + d.error.message, "error")));
    await loadCollections();
  } catch (e) {
    $("upload-note").textContent = e.message;
  } finally {
    button.disabled = false;
  }
});

loadCollections().catch((e) => { $("status").textContent = e.message; });
