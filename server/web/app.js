// The page of one Forage service: which view is in sight, and what all of them stand on.
import "/assets/api.js";
import { conversation, showConversation, showFresh, showHead } from "/assets/ask.js";
import { loadCollections } from "/assets/collections.js";
import { chooseAnother, openConversation, showActions, showKept } from "/assets/conversations.js";
import { showDashboard } from "/assets/dashboard.js";
import { loadDocuments } from "/assets/documents.js";
import { $, icon } from "/assets/dom.js";
import { closeReader } from "/assets/reader.js";
import { loadSession, showSettings } from "/assets/settings.js";
import { showSources } from "/assets/sources.js";
import "/assets/uploads.js";

const views = ["ask", "documents", "dashboard", "settings"];

// ---- the drawer of narrow screens ------------------------------------------------------------

const narrow = matchMedia("(max-width: 60rem)");

function drawer(open) {
  $("shell").classList.toggle("drawer", open);
  $("menu").setAttribute("aria-expanded", String(open));
  $("side").inert = narrow.matches && !open;
  $("main").inert = $("reader").inert = narrow.matches && open;
}
$("menu").append(icon("menu"));
$("menu").addEventListener("click", () => drawer(!$("shell").classList.contains("drawer")));
addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !$("shell").classList.contains("drawer")) return;
  drawer(false);
  $("menu").focus();
});
$("shell").addEventListener("click", (event) => event.target === $("shell") && drawer(false));
narrow.addEventListener("change", () => drawer(false));
drawer(false);

// ---- views -----------------------------------------------------------------------------------

let left = ""; // the hash under which Ask was last in sight

async function showView(moved) {
  const [name, id] = location.hash.slice(1).split("/"), view = views.includes(name) ? name : "ask";
  const other = $("view-" + view).hidden;
  chooseAnother();
  for (const v of views) $("view-" + v).hidden = v !== view;
  $("main").dataset.view = view;
  for (const a of document.querySelectorAll("nav a")) {
    if (a.textContent.toLowerCase() === view) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  if (view === "ask") showHead();
  else document.title = view[0].toUpperCase() + view.slice(1) + " · Forage";
  drawer(false);
  if (other) {
    closeReader();
    $("main").scrollTop = 0;
  }
  showSources(view === "documents");
  showDashboard(view === "dashboard");
  if (view === "documents") loadDocuments();
  if (view === "settings") showSettings().catch((e) => { $("keys-note").textContent = e.message; });
  if (view === "ask") {
    if (id && !(await openConversation(id))) return;
    if (!id && conversation.id && moved) { // what was asked and is not kept stays
      if (left.split("/")[1] !== conversation.id) { // it was kept after Ask was left: this is where it stands
        location.replace("#ask/" + conversation.id);
        return;
      }
      showConversation(null);
    }
    current();
  }
  if (moved) $(view === "ask" && !id ? "question" : view + "-title").focus({ preventScroll: true });
}

// The link "Ask" leads back to the conversation in sight.
function current() {
  document.querySelector("nav a").hash = conversation.id ? "#ask/" + conversation.id : "#ask";
  showActions();
  showFresh();
}
addEventListener("current", current);
addEventListener("hashchange", (event) => {
  if (!$("view-ask").hidden) left = new URL(event.oldURL).hash;
  if (location.hash !== "#main") showView(true);
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the hash names the view
  $("main").focus();
});

for (const e of document.querySelectorAll(".ingest-command")) e.textContent = "forage ingest FOLDER --url " + location.origin;

// ---- the beginning, and after the service or the key was another ------------------------------

const LONGEST_WAIT = 10; // seconds
let loads = 0; // the latest takes the place of one that still waits

// A busy service is asked again when it wants to be, however often: without its collections the page is of no use.
async function load() {
  for (const mine = ++loads; mine === loads;) {
    let wrong = null;
    try {
      await loadSession();
      await loadCollections();
      wrong = await showKept();
    } catch (e) {
      wrong = e;
      if ($("trouble").hidden) $("status").textContent = e.message;
    }
    await showView(false);
    if (wrong?.status !== 429 && wrong?.status !== 503) return;
    await new Promise((go) => setTimeout(go, 1000 * Math.min(Math.max(wrong.wait, 1), LONGEST_WAIT)));
  }
}
addEventListener("reachable", load);
addEventListener("another-key", load);
addEventListener("forgotten", () => { // what the key showed goes with it, on every view and in every script
  history.replaceState(null, "", "#ask");
  location.reload();
});
addEventListener("collections", () => loadCollections().catch(() => {}));
load();
