// As much of a browser as the page's scripts need to run in node by themselves: nodes that hold text, listen and are told
// of events, a dialog, an address. Nothing is laid out or looked up by selector. What a test wants to see comes by ids:
//     const page = await load(FOLDER_OF_SCRIPTS);
//     page.$("question").value = "..."; page.$("ask-form").fire("submit"); await (await page.script("ask.js")).ask("...");
"use strict";
const fs = require("fs");
const os = require("os");
const path = require("path");
const { pathToFileURL } = require("url");

class Node {
  constructor(tag) {
    Object.assign(this, { tag, children: [], parent: null, listeners: {}, attributes: {}, style: {}, dataset: {}, found: {}, hidden: false, disabled: false, value: "", open: false, isConnected: true, className: "" });
    this.classList = { toggle() {}, add() {}, remove() {}, contains: (c) => this.className.split(" ").includes(c) };
  }
  get textContent() { return this.children.map((c) => (typeof c === "string" ? c : c.textContent)).join(""); }
  set textContent(text) { this.children = [String(text)]; }
  get options() { return this.children; }
  append(...nodes) {
    for (const n of nodes) if (n instanceof Node) {
      n.remove();
      n.parent = this;
    }
    this.children.push(...nodes);
  }
  prepend(...nodes) {
    const rest = this.children.filter((c) => !nodes.includes(c));
    this.children = [];
    this.append(...nodes, ...rest);
  }
  replaceChildren(...nodes) {
    this.children = [];
    this.append(...nodes);
  }
  replaceWith(node) {
    node.parent = this.parent;
    this.parent.children[this.parent.children.indexOf(this)] = node;
  }
  remove() {
    if (this.parent) this.parent.children = this.parent.children.filter((c) => c !== this);
    this.parent = null;
  }
  setAttribute(k, v) { this.attributes[k] = v; }
  removeAttribute(k) { delete this.attributes[k]; }
  querySelector(selector) { return (this.found[selector] ||= new Node(selector)); } // always there, the same each time
  querySelectorAll() { return []; }
  contains() { return false; }
  focus() {}
  scrollIntoView() {}
  addEventListener(name, f, { once = false } = {}) {
    const heard = once ? (event) => { // taken off before it is called
      this.listeners[name] = this.listeners[name].filter((g) => g !== heard);
      f(event);
    } : f;
    (this.listeners[name] ||= []).push(heard);
  }
  fire(name, with_ = {}) {
    const event = { type: name, target: this, prevented: false, preventDefault() { this.prevented = true; }, ...with_ };
    for (const f of [this["on" + name], ...(this.listeners[name] || [])]) if (f) f(event);
    return event;
  }
  click() { if (!this.disabled) this.fire("click"); }
  showModal() { this.open = true; }
  close() {
    if (!this.open) return;
    this.open = false;
    setImmediate(() => this.fire("close"));
  }
}

// The scripts name each other by the address the service has them at.
function copied(folder) {
  const to = fs.mkdtempSync(path.join(os.tmpdir(), "page-"));
  process.on("exit", () => fs.rmSync(to, { recursive: true }));
  fs.writeFileSync(to + "/package.json", '{"type":"module"}');
  for (const f of fs.readdirSync(folder).filter((f) => f.endsWith(".js")))
    fs.writeFileSync(to + "/" + f, fs.readFileSync(folder + "/" + f, "utf8").replaceAll('"/assets/', '"./'));
  return to;
}

exports.load = async (folder) => {
  const at = copied(folder), ids = {}, window = new Node("window"), root = new Node("body");
  const $ = (id) => (ids[id] ||= new Node(id));
  const location = { hash: "", origin: "http://page", pathname: "/", replace(h) { this.hash = h; } };
  Object.assign(globalThis, {
    document: { getElementById: $, createElement: (tag) => new Node(tag), createElementNS: (_, tag) => new Node(tag), querySelector: (s) => root.querySelector(s), querySelectorAll: () => [], body: root, activeElement: null,
      addEventListener: (name, f) => root.addEventListener(name, f) },
    location, history: { replaceState: (_, __, h) => { location.hash = h; } },
    sessionStorage: { getItem: () => null, setItem() {}, removeItem() {} },
    addEventListener: (name, f) => window.addEventListener(name, f), dispatchEvent: (e) => window.fire(e.type, e),
  });
  $("nothing-yet").hidden = true;
  $("trouble").hidden = true;
  return { $, window, location, script: (name) => import(pathToFileURL(at + "/" + name)) };
};
