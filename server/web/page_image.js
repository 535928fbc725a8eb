// The page of a PDF that a passage stands on, drawn by the service, with the passage marked.
import { $, image } from "/assets/api.js";

const DOTS_PER_POINT = 1.5; // of GET /pages: source.bbox times this is where it stands in the image
let latest = 0; // a slow page must not cover a later one

export function hidePage() {
  latest++;
  $("reader-page").hidden = true;
}

// False: there is no such image, the text is all that there is.
export async function showPage(collection, source, name) {
  hidePage();
  const mine = latest;
  if (!source.page) return false;
  const drawn = await image("/pages/" + encodeURIComponent(source.document_id) + "?page=" + source.page +
    "&collection=" + encodeURIComponent(collection));
  if (!drawn || mine !== latest) return false;
  const canvas = $("reader-image"), to = canvas.getContext("2d"), style = getComputedStyle(canvas);
  canvas.width = drawn.width;
  canvas.height = drawn.height;
  to.drawImage(drawn, 0, 0);
  drawn.close();
  canvas.setAttribute("aria-label", "Page " + source.page + " of " + name + (source.bbox ? ", the passage marked" : ""));
  $("reader-page").hidden = false;
  if (!source.bbox) return true;
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
  return true;
}
