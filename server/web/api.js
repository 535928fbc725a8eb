// How the page talks to its service: JSON, event streams, uploads; and the API key, which is asked
// for when the service answers 401, kept for the tab and sent as a bearer token. A reader who gives none is asked again
// only once he has done something: what the page does by itself goes without.
import { $ } from "/assets/dom.js";

const KEY = "forage-api-key";
let asking = null;
let whose = ""; // whom the key belongs to by which the page was filled; "": nobody in particular
let declined = false; // the reader gave no key, and has done nothing since

const authorization = () => {
  const key = sessionStorage.getItem(KEY);
  return key ? { Authorization: "Bearer " + key } : {};
};

function showKeyState() {
  $("forget-key").hidden = !sessionStorage.getItem(KEY);
}

for (const act of ["click", "input", "change", "submit"])
  document.addEventListener(act, (event) => {
    if (!$("key-dialog").contains(event.target)) declined = false;
  }, true);

const ownerOf = (session) => (session.key ? session.tenant + "/" + session.name : "");

// What one has asked is not for another, nor are the other's documents to be asked with it: the page begins anew.
export function belongsTo(session) {
  const owner = ownerOf(session);
  if (whose && owner && owner !== whose) dispatchEvent(new Event("forgotten"));
  whose = owner || whose;
}

// Known before anything goes out with it. A key that the service does not know, or has no time for, is nobody's.
async function isAnothers(key) {
  if (!whose) return false;
  const reply = await fetch("/session", { headers: { Authorization: "Bearer " + key } }).catch(() => null);
  const session = reply?.ok ? await reply.json().catch(() => null) : null;
  return Boolean(session && ownerOf(session)) && ownerOf(session) !== whose;
}

// One dialog for all requests that were refused at the same time; true: there is a new key.
function askForKey() {
  if (declined) return false;
  asking ||= new Promise((resolve) => {
    const dialog = $("key-dialog");
    $("key").value = "";
    $("key-note").textContent = sessionStorage.getItem(KEY)
      ? "The service refused the key it was given. Another one?"
      : "It is kept for this tab alone and goes to this service alone.";
    dialog.returnValue = "";
    dialog.addEventListener("close", async () => {
      const given = dialog.returnValue === "use" && $("key").value.trim();
      $("key").value = "";
      if (given && await isAnothers(given)) {
        sessionStorage.setItem(KEY, given);
        dispatchEvent(new Event("forgotten")); // and what was refused is not sent again
        return;
      }
      asking = null;
      if (given) sessionStorage.setItem(KEY, given);
      showKeyState();
      declined = !given;
      if (given) dispatchEvent(new Event("another-key"));
      resolve(Boolean(given));
    }, { once: true });
    dialog.showModal();
  });
  return asking;
}

// The key to go on with; the page made it itself.
export function useKey(key) {
  sessionStorage.setItem(KEY, key);
  showKeyState();
}

$("key-cancel").addEventListener("click", () => $("key-dialog").close());
$("forget-key").addEventListener("click", () => {
  sessionStorage.removeItem(KEY);
  dispatchEvent(new Event("forgotten"));
});
showKeyState();

// status, which field is meant, and where the service is busy the seconds after which it wants to be asked again, go with
// the words.
function failure(body, status, wait) {
  const e = new Error(body && body.error ? body.error.message : "The service answered " + status + ".");
  e.status = status;
  e.param = body?.error?.param;
  e.wait = Number(wait) || 0;
  return e;
}
const failed = async (reply) => failure(await reply.json().catch(() => null), reply.status, reply.headers.get("Retry-After"));

// The service is away: said on every view until it answers again, which is looked for meanwhile.
const AWAY = "The service cannot be reached. It may have been stopped, or the network is down.";
let looking = 0;

function away() {
  if (!looking) {
    $("trouble").textContent = AWAY + " This page goes on by itself once the service is back.";
    $("trouble").hidden = false;
    $("status").textContent = "not reachable";
    looking = setInterval(() => fetch("/health", { cache: "no-store" }).then(back, () => {}), 2000);
  }
  return Object.assign(new Error(AWAY), { away: true });
}

function back() {
  if (!looking) return;
  clearInterval(looking);
  looking = 0;
  $("trouble").hidden = true;
  $("status").textContent = "";
  dispatchEvent(new Event("reachable"));
}

// What fetch says where there is no answer is each browser's own, and of no use to a reader.
const reach = (path, options) => fetch(path, options).then((reply) => {
  back();
  return reply;
}, (e) => {
  throw e.name === "AbortError" ? e : away();
});

// One may have so many requests a second, which a page that begins needs more of: what was refused for that alone, and so has
// done nothing, goes out again when it may, and the status says so meanwhile.
const PATIENCE = 60000, LONGEST_PAUSE = 5; // milliseconds, seconds
const SLOWLY = "few requests a second are let in: waiting";
let slow = 0, before = "";

function slowly(more) {
  if (!slow) before = $("status").textContent;
  slow += more;
  if (slow) $("status").textContent = SLOWLY;
  else if ($("status").textContent === SLOWLY) $("status").textContent = before;
}

async function takesTurn(reply, until, { signal, waits }) {
  const e = reply.status === 429 && (await failed(reply.clone())); // whoever is told of it reads it again
  const ms = e ? 1000 * e.wait + 300 * Math.random() : 0;
  if (!e || e.param !== "requests" || !(e.wait > 0 && e.wait <= LONGEST_PAUSE) || Date.now() + ms > until) return false;
  slowly(1);
  waits?.();
  await new Promise((go) => {
    const timer = setTimeout(go, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      go();
    }, { once: true });
  });
  slowly(-1);
  if (signal?.aborted) throw new DOMException("stopped", "AbortError");
  return true;
}

// fetch with the key; asks for one (again) as long as the service says 401 and the reader gives one. waits: called each time
// that it waits for its turn.
async function request(path, { waits, ...options } = {}) {
  for (const until = Date.now() + PATIENCE;;) {
    const sent = sessionStorage.getItem(KEY);
    const reply = await reach(path, { ...options, headers: { ...options.headers, ...authorization() } });
    if (await takesTurn(reply, until, { signal: options.signal, waits })) continue;
    if (reply.status !== 401) return reply;
    // Another request may have brought a key meanwhile.
    if (sent === sessionStorage.getItem(KEY) && !(await askForKey()))
      throw await failed(reply);
  }
}

export async function call(path, options) {
  const reply = await request(path, options);
  if (!reply.ok) throw await failed(reply);
  return reply.json().catch(() => null);
}

// The same with a JSON body.
export const put = (method, path, body) =>
  call(path, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

// A file that the service makes, as text.
export async function text(path) {
  const reply = await request(path);
  if (!reply.ok) throw await failed(reply);
  return reply.text();
}

// An image as a bitmap (the key goes along, which no <img> would send); null where there is none.
export async function image(path) {
  const reply = await request(path);
  return reply.ok ? createImageBitmap(await reply.blob()).catch(() => null) : null;
}

// Server-sent events of a POST, which EventSource cannot make: on(event, data) for each, and on("waits") before it is let in.
export async function streamEvents(path, body, signal, on) {
  const reply = await request(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
    waits: () => on("waits"),
  });
  if (!reply.ok) throw await failed(reply);
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let pending = "";
  for (;;) {
    const { value, done } = await reader.read().catch((e) => {
      throw e.name === "AbortError" ? e : new Error("The connection to the service broke off before the answer was whole.");
    });
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

// XMLHttpRequest: fetch does not tell how much of a body has gone out.
export async function send(form, progress, signal) {
  for (;;) {
    if (signal?.aborted) throw new DOMException("stopped", "AbortError");
    const x = await new Promise((resolve, reject) => {
      const r = new XMLHttpRequest();
      r.open("POST", "/ingest");
      r.responseType = "json";
      for (const [name, value] of Object.entries(authorization())) r.setRequestHeader(name, value);
      r.upload.addEventListener("progress", (e) => e.lengthComputable && progress(e.loaded / e.total));
      r.addEventListener("load", () => {
        back();
        resolve(r);
      });
      r.addEventListener("error", () => reject(away()));
      r.addEventListener("abort", () => reject(new DOMException("stopped", "AbortError")));
      const halt = () => r.abort();
      signal?.addEventListener("abort", halt);
      r.addEventListener("loadend", () => signal?.removeEventListener("abort", halt)); // or it holds every file of a long list
      r.send(form);
    });
    if (x.status < 300) return x.response;
    if (x.status !== 401 || !(await askForKey())) throw failure(x.response, x.status, x.getResponseHeader("Retry-After"));
  }
}
