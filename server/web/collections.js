// Collections: which there are, which one is looked at, a new one, one less.
import { call, put } from "/assets/api.js";
import { $, asks, count, element, field, option, tell } from "/assets/dom.js";

const LANGUAGES = ["english", "german", "french", "spanish", "italian", "dutch", "portuguese", "swedish", "danish", "norwegian", "finnish",
  "russian", "turkish", "hungarian", "romanian", "arabic", "greek", "hindi", "none"];

let list = [], known = false; // known: the service has said which there are
let current = null; // its name; null: the first

export const currentCollection = () => (list.some((c) => c.name === current) ? current : list[0] ? list[0].name : "default");
export const areKnown = () => known;
export const currentCounts = () => list.find((c) => c.name === currentCollection());

function fillSelect(select, names) {
  const chosen = select.value;
  select.replaceChildren(...names.map((n) => option(n)));
  if (names.includes(chosen)) select.value = chosen;
}

function showCards() {
  $("collections").replaceChildren(...list.map((c) => {
    const li = element("li"), b = element("button", null, "card");
    b.type = "button";
    b.setAttribute("aria-pressed", String(c.name === currentCollection()));
    b.append(element("strong", c.name), element("span", count(c.documents, "document"), "note"), element("span", c.language, "note"));
    b.addEventListener("click", () => choose(c.name));
    li.append(b);
    return li;
  }));
  if (!list.length) $("collections").append(element("li", "None yet: the first document makes one, named default.", "note"));
  $("upload-collection").textContent = currentCollection();
  $("list-title").textContent = list.length ? "Documents in " + currentCollection() : "Documents";
  $("delete-collection").hidden = !list.length;
}

function choose(name) {
  current = name;
  showCards();
  [...$("collections").querySelectorAll("button")].find((b) => b.getAttribute("aria-pressed") === "true")?.focus();
  dispatchEvent(new Event("collection"));
}

export async function loadCollections() {
  list = (await call("/collections")).data;
  known = true;
  const names = list.map((c) => c.name), n = list.reduce((sum, c) => sum + c.documents, 0);
  fillSelect($("collection"), names.length ? names : ["default"]);
  showCards();
  $("status").textContent = count(n, "document");
  const was = $("nothing-yet").hidden;
  $("nothing-yet").hidden = n > 0;
  if (was !== $("nothing-yet").hidden) dispatchEvent(new Event("current"));
}

$("make-collection").addEventListener("click", async () => {
  const name = element("input"), language = element("select");
  name.required = true;
  name.pattern = "[A-Za-z0-9_\\-][A-Za-z0-9_.\\-]{0,63}";
  name.title = "1 to 64 of A-Z a-z 0-9 _ - . and no dot first";
  language.append(...LANGUAGES.map((l) => option(l)));
  if (await asks({ title: "New collection", yes: "Make it", body: [field("Name", name), field("Language of its documents", language), element("p", "Texts in other languages are told apart and found, too.", "note")],
    act: async () => {
      if (list.some((c) => c.name === name.value)) throw new Error("There is a collection of this name already.");
      await put("PUT", "/collections/" + encodeURIComponent(name.value), { language: language.value });
    } })) {
    await loadCollections();
    choose(name.value);
    tell("Made.");
  }
});

$("delete-collection").addEventListener("click", async () => {
  const c = currentCounts();
  if (!c) return;
  const input = element("input");
  input.required = true;
  input.autocomplete = "off";
  if (await asks({ title: "Delete the collection " + c.name + "?", danger: true, yes: "Delete it",
    body: [element("p", count(c.documents, "document") + " and " + count(c.chunks, "passage") + " go for good. Conversations about them stay."), field("Type its name to say that you mean it", input)],
    act: async () => {
      if (input.value !== c.name) throw new Error("That is not its name.");
      await call("/collections/" + encodeURIComponent(c.name), { method: "DELETE" });
    } })) {
    current = null;
    await loadCollections();
    dispatchEvent(new Event("collection"));
    $("documents-title").focus();
    tell("Deleted.");
  }
});
