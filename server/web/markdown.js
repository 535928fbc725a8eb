// An answer as nodes: paragraphs, lists, tables, code, headings, bold, emphasis. A small part of Markdown, as models
// write it; what is anything else stays text. Links and images stay text, too: nothing is fetched and nobody is led
// anywhere by what a document says. Citations are marked beforehand (mark) and become what `chip(index)` makes.
import { element } from "/assets/dom.js";

const OPEN = "\uE000", CLOSE = "\uE001"; // around the number of a citation; private use, taken out of what comes in
const FROM = "\uE002", TO = "\uE003"; // around the few words that answer

// The answer with its markers [n] as marks. A marker stands right behind what it supports (answer_span counts code
// points); brackets anywhere else are text. short: the words of one line that answer, or nothing.
export function mark(answer, citations, short) {
  const points = Array.from(answer.replaceAll(/[\uE000-\uE003]/g, "\uFFFD")), parts = [];
  if (short && !points.slice(short.start, short.end).includes("\n")) {
    points[short.start] = FROM + points[short.start];
    points[short.end - 1] += TO;
  }
  let done = 0;
  for (const [i, c] of [...citations.entries()].sort((a, b) => a[1].answer_span.end - b[1].answer_span.end)) {
    const marker = " [" + c.index + "]", at = c.answer_span.end;
    if (at < done || points.slice(at, at + marker.length).join("") !== marker) continue;
    parts.push(points.slice(done, at).join(""), OPEN + i + CLOSE);
    done = at + marker.length;
  }
  parts.push(points.slice(done).join(""));
  return parts.join("");
}

// The marks of a text as numbers of citations again, by `write`.
export const unmark = (text, write) => text.replaceAll(/\uE000(\d+)\uE001/g, (_, i) => write(Number(i)));

const INLINE = /\uE000(\d+)\uE001|\uE002([^\uE003\n]*)\uE003|`([^`\n]+)`|\*\*(?=\S)([^\n]+?)\*\*|(?<![\w*])\*(?=[^\s*])([^*\n]+?)(?<=\S)\*(?![\w*])/g;

// A chip stays with the word before it: no line begins with one.
function join(nodes, chip) {
  const before = nodes[nodes.length - 1], m = typeof before === "string" && /(?:^|\s)(\S{1,24} ?)$/.exec(before);
  if (!m) return nodes.push(chip);
  const both = element("span", m[1], "stay");
  both.append(chip);
  nodes[nodes.length - 1] = before.slice(0, -m[1].length);
  return nodes.push(both);
}

// Nodes of a line. rich: with bold, emphasis and code; else only citations are looked for.
function inline(text, chip, rich) {
  const nodes = [];
  let done = 0;
  for (const m of text.matchAll(INLINE)) {
    if (m[1] === undefined && m[2] === undefined && !rich) continue;
    nodes.push(text.slice(done, m.index));
    done = m.index + m[0].length;
    if (m[1] !== undefined) join(nodes, chip(Number(m[1])));
    else if (m[2] !== undefined) nodes.push(element("strong", m[2], "short"));
    else if (m[3] !== undefined) nodes.push(element("code", m[3]));
    else {
      const e = element(m[4] !== undefined ? "strong" : "em");
      e.append(...inline(m[4] ?? m[5], chip, rich));
      nodes.push(e);
    }
  }
  nodes.push(text.slice(done));
  return nodes.filter((n) => n !== "");
}

const ITEM = /^(\s*)([-*•]|\d{1,3}[.)])\s+(.*)$/, FENCE = /^\s*(```|~~~)\s*(\S*)\s*$/, HEADING = /^(#{1,6})\s+(.*)$/;
const RULE = /^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/;
const cells = (line) => line.trim().replace(/^\|/, "").replace(/\|$/, "").split("|").map((c) => c.trim());

function list(lines, at, put) {
  const depth = ITEM.exec(lines[at])[1].length, ordered = /\d/.test(ITEM.exec(lines[at])[2]);
  const out = element(ordered ? "ol" : "ul");
  if (ordered) out.start = parseInt(ITEM.exec(lines[at])[2], 10);
  while (at < lines.length) {
    const m = ITEM.exec(lines[at]);
    if (m && m[1].length > depth && out.lastChild) {
      const [inner, next] = list(lines, at, put);
      out.lastChild.append(inner);
      at = next;
    } else if (m && m[1].length === depth && /\d/.test(m[2]) === ordered) {
      const li = element("li");
      li.append(...put(m[3]));
      out.append(li);
      at++;
    } else if (!m && lines[at].trim() && /^\s/.test(lines[at]) && out.lastChild) { // an item that goes on
      out.lastChild.append(" ", ...put(lines[at].trim()));
      at++;
    } else break;
  }
  return [out, at];
}

function table(lines, at, put) {
  const box = element("div", null, "scroll"), out = element("table"), head = element("thead"), body = element("tbody");
  const row = (line, tag) => {
    const tr = element("tr");
    for (const text of cells(line)) {
      const c = element(tag);
      if (tag === "th") c.scope = "col";
      c.append(...put(text));
      tr.append(c);
    }
    return tr;
  };
  head.append(row(lines[at], "th"));
  for (at += 2; at < lines.length && lines[at].includes("|"); at++) body.append(row(lines[at], "td"));
  out.append(head, body);
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Table");
  box.append(out);
  return [box, at];
}

function fence(lines, at) {
  const end = lines.findIndex((l, i) => i > at && l.trim().startsWith(FENCE.exec(lines[at])[1]));
  const to = end < 0 ? lines.length : end, pre = element("pre"), code = element("code", unmark(lines.slice(at + 1, to).join("\n"), () => ""));
  pre.tabIndex = 0;
  pre.append(code);
  return [pre, end < 0 ? to : to + 1];
}

// marked: of `mark`. rich false: paragraphs and line ends alone, for the documents' own words.
export function render(marked, chip, rich) {
  const lines = marked.split("\n"), out = [], put = (text) => inline(text, chip, rich);
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    if (!line.trim()) {
      at++;
      continue;
    }
    let node = null;
    if (rich && FENCE.test(line)) [node, at] = fence(lines, at);
    else if (rich && line.includes("|") && RULE.test(lines[at + 1] || "") && (lines[at + 1] || "").includes("-")) [node, at] = table(lines, at, put);
    else if (rich && ITEM.test(line)) [node, at] = list(lines, at, put);
    else if (rich && HEADING.test(line)) {
      node = element("p", null, "heading");
      node.append(...put(HEADING.exec(line)[2]));
      at++;
    } else {
      node = element("p");
      for (let first = true; at < lines.length && lines[at].trim() && (first || !rich || !(FENCE.test(lines[at]) || ITEM.test(lines[at]) || HEADING.test(lines[at]))); at++, first = false) {
        if (!first) node.append(element("br"));
        node.append(...put(lines[at]));
      }
    }
    node.dir = "auto"; // each block runs as its own words do
    out.push(node);
  }
  return out;
}
