// Folders that the service keeps in step: state, what the last run did, and a run on request.
import { call } from "/assets/api.js";
import { $, element } from "/assets/dom.js";

const COUNTS = ["created", "updated", "moved", "unchanged", "removed", "skipped", "failed"];
const when = (t) => t ? new Date(t).toLocaleString() : "never";

function kinds(report) {
  return Object.entries(report.skipped_by_kind).map(([kind, n]) => kind + " " + n).join(", ");
}

function details(s) {
  const list = element("ul");
  const say = (text, className) => list.append(element("li", text, className));
  say(s.path + " → collection " + s.collection, "note");
  if (s.report) say(COUNTS.map((c) => c + " " + s.report[c]).join(", "));
  if (s.error) say(s.error, "error");
  if (s.note) say(s.note, "note");
  if (s.report) {
    if (s.report.refused) say(s.report.refused, "error");
    if (s.report.skipped) say("skipped: " + kinds(s.report), "note");
    for (const f of s.report.failures) say((f.file || s.path) + ": " + f.reason, "error");
    if (s.report.failed > s.report.failures.length) say((s.report.failed - s.report.failures.length) + " more failed", "error");
  }
  return list;
}

function syncButton(s) {
  const button = element("button", "Sync now", "link");
  button.type = "button";
  button.setAttribute("aria-label", "Sync " + s.name + " now");
  button.dataset.source = s.name;
  const rests = (yes) => button.setAttribute("aria-disabled", String(yes)); // one that is disabled would lose the focus
  rests(s.state === "running" || s.state === "waiting");
  button.addEventListener("click", async () => {
    if (button.getAttribute("aria-disabled") === "true") return;
    rests(true);
    try {
      await call("/sources/" + encodeURIComponent(s.name) + "/sync?wait=false", { method: "POST" });
      $("folders-note").textContent = s.name + " is looked at.";
    } catch (e) {
      $("folders-note").textContent = e.message;
    }
    await loadSources().catch(() => {});
  });
  return button;
}

function rows(s) {
  const row = element("tr"), more = element("tr"), under = element("td"), cell = element("td", null, "action");
  if (s.configured) cell.append(syncButton(s));
  row.append(element("td", s.name), element("td", s.state + (s.watched ? ", watched" : "")),
    element("td", String(s.documents), "number wide"), element("td", when(s.finished_at), "wide"), cell);
  under.colSpan = 5;
  under.append(details(s));
  more.append(under);
  return [row, more];
}

let shown = "", timer = 0;

async function loadSources() {
  const { data } = await call("/sources");
  $("folders-section").hidden = !data.length;
  const now = JSON.stringify(data);
  if (now === shown) return; // nothing is drawn anew under somebody's finger
  shown = now;
  const had = $("folders").contains(document.activeElement) ? document.activeElement.dataset.source : null;
  $("folders").replaceChildren(...data.flatMap(rows));
  if (had) [...$("folders").querySelectorAll("button")].find((b) => b.dataset.source === had)?.focus();
}

// Without a key there is nothing to follow; once there is one, the view is shown anew.
const follow = () => loadSources().catch((e) => e.status === 401 && clearInterval(timer));

// While they are in sight, what they do is followed.
export function showSources(visible) {
  clearInterval(timer);
  if (!visible) return;
  timer = setInterval(follow, 3000);
  follow();
}
