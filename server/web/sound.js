// A turn's reply as the page shows it. Any client of the API may keep what it likes as one: what of it is not of the shape
// that an answer has is left out, so that nothing else of its conversation is kept from sight by it.
const isObject = (v) => v !== null && typeof v === "object";
const listOf = (v, sound) => (Array.isArray(v) ? v.filter(sound) : []);
const numbersOf = (v) => Object.fromEntries(Object.entries(isObject(v) ? v : {}).filter(([, n]) => typeof n === "number"));
const number = (v) => (typeof v === "number" ? v : null);

const isSource = (s) => isObject(s) && typeof s.document_id === "string";
const isCitation = (c) => isObject(c) && isSource(c.source) && typeof c.quote === "string" && isObject(c.answer_span) && Number.isInteger(c.answer_span.end);
const isWithin = (span, n) => isObject(span) && [span.start, span.end].every(Number.isInteger) && 0 <= span.start && span.start < span.end && span.end <= n;

const withNumbers = (c) => ({ ...c, score: number(c.score), scores: numbersOf(c.scores) });

export function soundTurn(turn) {
  const r = isObject(turn.reply) ? turn.reply : {}, timings = numbersOf(r.timings_ms), u = r.usage;
  return { ...turn, reply: { ...r,
    citations: listOf(r.citations, isCitation),
    contexts: listOf(r.contexts, isSource).map(withNumbers),
    short_answer: isWithin(r.short_answer, Array.from(turn.answer).length) ? r.short_answer : undefined,
    timings_ms: "total" in timings ? timings : undefined,
    usage: isObject(u) && isObject(u.prompt_tokens_details) ? u : undefined,
    tokens_per_s: number(r.tokens_per_s),
    timings: isObject(r.timings) && typeof r.timings.first_visible_ms === "number" ? r.timings : undefined } };
}
