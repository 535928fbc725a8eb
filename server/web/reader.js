// A source beside the answer: its text with the passage marked, and the page of a PDF that it stands on, drawn by the
// service. A panel on wide screens, a sheet on narrow ones.
import { call, image } from "/assets/api.js";
import { $, element, icon } from "/assets/dom.js";

const DOTS_PER_POINT = 1.5; // of GET /pages: source.bbox times this is where it stands in the image
let opener = null; // what has the focus back when the reader is closed
let latest = 0; // a slow source must not cover a later one

// Offsets of the API count code points; a JavaScript string counts UTF-16 units.
function cut(text, start, end) {
  const points = Array.from(text);
  return [points.slice(0, start).join(""), points.slice(start, end).join(""), points.slice(end).join("")];
}

// Where the passage stands in the text, [start, end): where its source says, or, where other words are there now, because
// the document has changed since, the nearest place that has the same ones; null: none has. quote: the words, or how
// they begin; nothing where they are not known.
export function findPassage(text, { start, end }, quote) {
  const points = Array.from(text), known = Array.from(quote || "");
  if (points.slice(start, start + known.length).join("") === known.join("")) return { start, end, moved: false };
  let nearest = null;
  for (let at = text.indexOf(quote), seen = 0, n = 0; at >= 0; at = text.indexOf(quote, at + 1)) {
    n += Array.from(text.slice(seen, at)).length;
    seen = at;
    if (!nearest || Math.abs(n - start) < Math.abs(nearest.start - start)) nearest = { start: n, end: n + known.length, moved: true };
  }
  return nearest;
}

// Seconds of a recording as people read them: 12:34, 1:02:03.
function clock(seconds) {
  const s = Math.floor(seconds), two = (n) => String(n).padStart(2, "0");
  return (s >= 3600 ? Math.floor(s / 3600) + ":" + two(Math.floor(s / 60) % 60) : Math.floor(s / 60)) + ":" + two(s % 60);
}

// Where in its document a passage stands: "p. 12", "slide 3", "line 40", "at 12:34", "Budget B2:D9"; "" where it has no such place.
export const placeOf = (source) => [source.page ? "p. " + source.page : "", source.slide ? "slide " + source.slide : "",
  source.line ? "line " + source.line : "", source.time ? "at " + clock(source.time[0]) : "",
  [source.sheet, source.range].filter(Boolean).join(" ")].filter(Boolean).join(", ");
export const nameOf = (source) => [source.title || source.uri || source.document_id, placeOf(source)].filter(Boolean).join(", ");

function drawPage(drawn, source, name) {
  const canvas = $("reader-image"), to = canvas.getContext("2d"), style = getComputedStyle(canvas);
  canvas.width = drawn.width;
  canvas.height = drawn.height;
  to.drawImage(drawn, 0, 0);
  drawn.close();
  canvas.setAttribute("aria-label", "Page " + source.page + " of " + name + (source.bbox ? ", the passage marked" : ""));
  $("reader-page").hidden = false;
  if (!source.bbox) return;
  const [x0, y0, x1, y1] = source.bbox.map((v) => v * DOTS_PER_POINT), edge = 4;
  to.globalCompositeOperation = "multiply"; // letters stay black
  to.fillStyle = style.getPropertyValue("--page-mark");
  to.fillRect(x0 - edge, y0 - edge, x1 - x0 + 2 * edge, y1 - y0 + 2 * edge);
  to.globalCompositeOperation = "source-over";
  to.strokeStyle = style.getPropertyValue("--page-edge");
  to.lineWidth = 2;
  to.strokeRect(x0 - edge, y0 - edge, x1 - x0 + 2 * edge, y1 - y0 + 2 * edge);
  const shown = canvas.clientHeight / canvas.height, room = $("reader-page").clientHeight;
  $("reader-page").scrollTop = Math.max(0, (y0 + y1) / 2 * shown - room / 2);
}

// What stands above the text: where the document is from and where in it the passage is. A place that was told of the
// document as it was (a page, a line) is told of no other.
function noteOf(doc, name, source, at) {
  const whole = source.start === undefined, parts = [doc.uri === name ? "" : doc.uri];
  if (!whole && (!at || at.moved)) parts.push("The document has changed since" + (at ? "" : ": the passage is no longer in it"));
  else parts.push(placeOf(source));
  if (at) parts.push("characters " + at.start + " to " + at.end);
  return parts.filter(Boolean).join(" · ");
}

// source: of a citation or a context, or of a whole document (without start and end). quote: the passage's words, or how
// they begin.
export async function openSource(collection, source, quote) {
  const mine = ++latest;
  if (!$("reader").contains(document.activeElement)) opener = document.activeElement;
  const doc = await call("/documents/" + encodeURIComponent(source.document_id) + "?collection=" + encodeURIComponent(collection));
  if (mine !== latest) return;
  const whole = source.start === undefined, name = doc.title || doc.uri || doc.id;
  $("reader-title").textContent = name;
  const at = whole ? null : findPassage(doc.text, source, quote);
  $("reader-note").textContent = noteOf(doc, name, source, at);
  $("reader-page").hidden = true;
  $("reader").hidden = false;
  if (!at) {
    $("reader-text").replaceChildren(doc.text);
    $("reader-text").scrollTop = 0;
  } else {
    const [before, passage, after] = cut(doc.text, at.start, at.end), mark = element("mark", passage);
    $("reader-text").replaceChildren(before, mark, after);
    mark.scrollIntoView({ block: "center" });
  }
  $("reader-text").focus({ preventScroll: true });
  if (!source.page || !at || at.moved) return; // the page may be another one by now
  const drawn = await image("/pages/" + encodeURIComponent(source.document_id) + "?page=" + source.page + "&collection=" + encodeURIComponent(collection));
  if (drawn && mine === latest) drawPage(drawn, source, name); // else the text is all that there is
}

export function closeReader() {
  latest++;
  if ($("reader").hidden) return;
  const had = $("reader").contains(document.activeElement) || document.activeElement === document.body;
  $("reader").hidden = true;
  if (had && opener && opener.isConnected) opener.focus();
  opener = null;
}

$("reader-close").append(icon("close"));
$("reader-close").addEventListener("click", closeReader);
// Wherever the focus is by now; but Escape also closes a dialog, a list or the drawer, and empties a field.
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.target.closest("dialog, input, select") && !$("shell").classList.contains("drawer")) closeReader();
});
