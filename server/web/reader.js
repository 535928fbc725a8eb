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

// source: of a citation or a context, or of a whole document (without start and end).
export async function openSource(collection, source) {
  const mine = ++latest;
  if (!$("reader").contains(document.activeElement)) opener = document.activeElement;
  const doc = await call("/documents/" + encodeURIComponent(source.document_id) + "?collection=" + encodeURIComponent(collection));
  if (mine !== latest) return;
  const whole = source.start === undefined, name = doc.title || doc.uri || doc.id;
  $("reader-title").textContent = name;
  $("reader-note").textContent = [doc.uri === name ? "" : doc.uri, placeOf(source), whole ? "" : "characters " + source.start + " to " + source.end].filter(Boolean).join(" · ");
  $("reader-page").hidden = true;
  $("reader").hidden = false;
  if (whole) {
    $("reader-text").replaceChildren(doc.text);
    $("reader-text").scrollTop = 0;
  } else {
    const [before, passage, after] = cut(doc.text, source.start, source.end), mark = element("mark", passage);
    $("reader-text").replaceChildren(before, mark, after);
    mark.scrollIntoView({ block: "center" });
  }
  $("reader-text").focus({ preventScroll: true });
  if (!source.page) return;
  const drawn = await image("/pages/" + encodeURIComponent(source.document_id) + "?page=" + source.page + "&collection=" + encodeURIComponent(collection));
  if (drawn && mine === latest) drawPage(drawn, source, name); // else the text is all that there is
}

export function closeReader() {
  latest++;
  if ($("reader").hidden) return;
  const had = $("reader").contains(document.activeElement);
  $("reader").hidden = true;
  if (had && opener && opener.isConnected) opener.focus();
  opener = null;
}

$("reader-close").append(icon("close"));
$("reader-close").addEventListener("click", closeReader);
$("reader").addEventListener("keydown", (event) => event.key === "Escape" && closeReader());
