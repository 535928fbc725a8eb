// Answers and conversations as text that leaves the page: citations stay with what they support.
import { clip } from "/assets/dom.js";
import { mark, unmark } from "/assets/markdown.js";
import { nameOf } from "/assets/reader.js";

const where = (source) => nameOf(source) + (source.uri && source.uri !== source.title ? " (" + source.uri + ")" : "");

// What is said instead of an answer: the service says it in the question's language.
export const refusalOf = (reply) => reply.refusal || "The documents do not answer this question.";

// For the clipboard: the answer with its markers, then its sources.
export function answerAsText(turn) {
  const cited = turn.reply.citations || [];
  if (!cited.length) return turn.answer || refusalOf(turn.reply);
  return turn.answer + "\n\nSources:\n" + cited.map((c) => "[" + c.index + "] " + where(c.source) + ": \u201C" + c.quote + "\u201D").join("\n");
}

// What a conversation is kept under: its title, as far as every system takes it. Marks belong to the letters before them.
export const fileNameOf = (conversation) =>
  (clip((conversation.title || "").replaceAll(/[^\p{L}\p{M}\p{N} _-]/gu, ""), 60).trim() || "conversation") + ".md";

// A conversation as Markdown, its citations as footnotes; their numbers go on from turn to turn.
export function asMarkdown(conversation) {
  const notes = [];
  const parts = ["# " + (conversation.title || "Conversation").replaceAll(/\s+/g, " "), ""];
  for (const t of conversation.turns) {
    const cited = t.reply.citations || [], first = notes.length;
    parts.push("## " + t.question.replaceAll(/\s+/g, " "), "");
    parts.push(t.answer ? unmark(mark(t.answer, cited), (i) => "[^" + (first + i + 1) + "]") : "*" + refusalOf(t.reply) + "*", "");
    for (const c of cited) notes.push("[^" + (notes.length + 1) + "]: " + where(c.source).replaceAll(/\s+/g, " ") + ": \u201C" + c.quote.replaceAll(/\s+/g, " ") + "\u201D");
  }
  return [...parts, ...notes, ""].join("\n");
}
