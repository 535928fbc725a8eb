// The page of one Forage service: which view is in sight.
import { $ } from "/assets/api.js";
import "/assets/ask.js";
import { loadCollections, loadDocuments } from "/assets/documents.js";
import { showDashboard } from "/assets/dashboard.js";
import { showSources } from "/assets/sources.js";

const views = ["ask", "documents", "dashboard"];

function showView(moved) {
  const view = views.includes(location.hash.slice(1)) ? location.hash.slice(1) : "ask";
  for (const v of views) $("view-" + v).hidden = v !== view;
  for (const a of document.querySelectorAll("nav a")) {
    if (a.hash === "#" + view) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  document.title = (view === "ask" ? "" : view[0].toUpperCase() + view.slice(1) + " · ") + "Forage";
  if (moved) $("view-" + view).querySelector("h2").focus();
  if (view === "documents") loadDocuments();
  showSources(view === "documents");
  showDashboard(view === "dashboard");
}
addEventListener("hashchange", () => location.hash !== "#main" && showView(true));
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the hash names the view
  $("main").focus();
});

for (const e of document.querySelectorAll(".ingest-command"))
  e.textContent = "forage ingest FOLDER --url " + location.origin;

const load = () => loadCollections().catch((e) => {
  if ($("trouble").hidden) $("status").textContent = e.message;
}).finally(() => showView(false));
addEventListener("reachable", load);
load();
