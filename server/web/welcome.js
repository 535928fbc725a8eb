// First questions: those that the service itself answers from this collection.
import { call } from "/assets/api.js";
import { $, button, element, words } from "/assets/dom.js";

const WANTED = 4, ROUNDS = 4; // the service tries some in a few seconds; asked again it goes on from there

let latest = 0;

export async function suggest(collection, ask) {
  const mine = ++latest;
  $("suggestions").replaceChildren();
  if (!collection || !$("nothing-yet").hidden) return;
  for (let i = 0, shown = 0; i < ROUNDS && shown < WANTED; i++) {
    const { data } = await call("/suggestions?limit=" + WANTED + "&collection=" + encodeURIComponent(collection)).catch(() => ({ data: [] }));
    if (mine !== latest || $("welcome").hidden) return;
    const there = new Set([...$("suggestions").children].map((li) => li.textContent));
    for (const s of data.filter((d) => !there.has(d.query))) { // those that are there stay where they are
      const li = element("li");
      li.append(words(button(s.query, "suggestion", () => ask(s.query))));
      $("suggestions").append(li);
    }
    shown = data.length;
  }
}
