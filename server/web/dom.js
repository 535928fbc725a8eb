// Nodes, icons, dialogs and words that all views share. Everything that comes from documents, questions or
// models is put in by textContent, never as markup.
export const $ = (id) => document.getElementById(id);

export function element(tag, text, className) {
  const e = document.createElement(tag);
  if (text !== undefined && text !== null) e.textContent = text;
  if (className) e.className = className;
  return e;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes, text) {
  const e = document.createElementNS(SVG, tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  return e;
}

const ICONS = {
  menu: "M4 6h16M4 12h16M4 18h16",
  close: "M6 6l12 12M18 6L6 18",
  plus: "M12 5v14M5 12h14",
  copy: "M9 9h10v11H9zM5 15V4h10",
  again: "M19 12a7 7 0 1 1-2-5l2 2M19 4v5h-5",
  up: "M7 11v9H4v-9zM7 11l4-7c2 0 3 1 2.500 3L13 10h6l-1.500 10H7",
  down: "M7 13V4H4v9zM7 13l4 7c2 0 3-1 2.500-3L13 14h6L17.500 4H7",
  pen: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  share: "M12 15V4M8 8l4-4 4 4M5 12v8h14v-8",
  save: "M12 4v11M8 11l4 4 4-4M5 20h14",
  bin: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
};

export function icon(name) {
  const e = svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" });
  e.append(svg("path", { d: ICONS[name] }));
  return e;
}

// A button with a picture; its name is for screen readers and pointers, or stands beside it.
export function iconButton(name, label, { text, className = "icon" } = {}) {
  const b = element("button", null, className);
  b.type = "button";
  b.append(icon(name));
  if (text) b.append(text);
  else b.title = label;
  b.setAttribute("aria-label", label);
  return b;
}

// Words of documents, questions or readers: they run as their own language does, from the right where it is such a one.
export function words(e) {
  e.dir = "auto";
  return e;
}

export function button(text, className, act) {
  const b = element("button", text, className);
  b.type = "button";
  if (act) b.addEventListener("click", act);
  return b;
}

export function option(value, text = value) {
  const o = element("option", text);
  o.value = value;
  return o;
}

// A word in passing at the lower edge, read out too: for what was done, not for what went wrong.
let quiet = 0;
export function tell(text) {
  clearTimeout(quiet);
  $("told").textContent = text;
  quiet = setTimeout(() => $("told").replaceChildren(), 4000);
}

// One question to the reader: true once `act` has gone well, false where it was called off. What `act` throws is
// shown in the dialog, which stays open. Once `act` has begun, there is no way out before it ends: what it does would
// come behind another dialog, and nobody would learn of it. stop: the word of a button that ends it sooner;
// `act` looks at the signal that it is given. body: nodes above the buttons.
export function asks({ title, body = [], yes, no = "Cancel", stop = null, danger = false, act = () => {} }) {
  const dialog = $("asks");
  if (dialog.open) return Promise.resolve(false); // a question that comes late, when another one is being answered
  let running = null; // what stops the act, while it runs
  const shows = (now) => {
    running = now;
    $("asks-yes").disabled = Boolean(now);
    $("asks-no").disabled = Boolean(now && !stop);
    $("asks-no").textContent = now && stop ? stop : no;
  };
  const halt = () => {
    running.abort();
    $("asks-no").disabled = true;
  };
  $("asks-title").textContent = title;
  $("asks-body").replaceChildren(...body);
  $("asks-yes").textContent = yes;
  $("asks-yes").classList.toggle("danger", danger);
  $("asks-error").hidden = true;
  shows(null);
  dialog.showModal();
  const first = $("asks-body").querySelector("input, select");
  (first || $(danger ? "asks-no" : "asks-yes")).focus();
  first?.select?.(); // a name that stands there goes with the first letter of another
  return new Promise((resolve) => {
    let went = false;
    $("asks-form").onsubmit = async (event) => {
      event.preventDefault();
      if (running) return;
      shows(new AbortController());
      $("asks-error").hidden = true;
      if (stop) $("asks-no").focus();
      try {
        await act(running.signal);
        went = true;
      } catch (e) {
        $("asks-error").textContent = e.message;
        $("asks-error").hidden = false;
      }
      shows(null);
      if (went) dialog.close();
    };
    $("asks-no").onclick = () => (running ? halt() : dialog.close());
    dialog.oncancel = (event) => {
      if (!running) return;
      event.preventDefault();
      if (stop) halt();
    };
    dialog.onclose = () => {
      if (running) dialog.showModal(); // a browser may close it at the second Escape without asking
      else resolve(went);
    };
  });
}

// A labelled field for such a dialog.
export function field(label, input) {
  const l = element("label", label);
  l.append(input);
  return l;
}

// The first n units of a text that goes to the service, or one less: half a character is no text, and refused as JSON.
export const clip = (text, n) => text.slice(0, n).replace(/[\uD800-\uDBFF]$/, "");

export const count = (n, one, many = one + "s") => n.toLocaleString() + " " + (n === 1 ? one : many);
export const bytes = (n) => (n < 1024 ? n + " B" : n < 1 << 20 ? (n / 1024).toFixed(0) + " KiB"
  : n < 2 ** 30 ? (n / 2 ** 20).toFixed(1) + " MiB" : (n / 2 ** 30).toFixed(2) + " GiB");

// A file that the browser keeps.
export function download(name, text, type) {
  const a = element("a");
  a.href = URL.createObjectURL(new Blob([text], { type }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

// To the clipboard; the old way where the page is not of a secure origin. Throws where neither is allowed: what is shown
// only once must not be taken for copied.
export async function copy(text) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return;
    } catch { /* not allowed: the old way */ }
  }
  const t = element("textarea", text, "unseen");
  (document.querySelector("dialog[open]") || document.body).append(t); // all else is inert while a dialog is open
  t.select();
  const went = document.execCommand("copy");
  t.remove();
  if (!went) throw new Error("The browser lets this page copy nothing: select it, and copy it yourself.");
}
