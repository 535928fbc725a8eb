// The turns of a conversation: those before the newest are shown below it and go with the next question,
// so that "and who keeps them?" is understood.
import { $, element } from "/assets/api.js";

const SENT = 32, LONGEST = 2000; // turns, and characters of each, that go with a question
let turns = []; // oldest first: { collection, question, answer }

// Earlier turns as the API's messages. A question that is asked again is asked as it was before.
export function messagesBefore(collection, question) {
  const again = turns.findIndex((t) => t.question === question && t.collection === collection);
  return (again < 0 ? turns : turns.slice(0, again)).filter((t) => t.collection === collection).slice(-SENT)
    .flatMap((t) => [{ role: "user", content: t.question.slice(0, LONGEST) },
      { role: "assistant", content: t.answer.slice(0, LONGEST) }]);
}

// The newest turn is whole: it counts from now on.
export function remember(collection, question, answer) {
  turns.push({ collection, question, answer });
  $("restart").hidden = false;
}

// Room for a new turn: what is shown moves to the earlier ones, chips and all.
export function setAside() {
  const text = $("answer-text");
  if (turns.length && text.hasChildNodes() && $("asked").textContent) {
    const li = element("li"), answer = element("p", null, "said");
    answer.append(...text.childNodes);
    li.append(element("p", $("asked").textContent, "asked"), answer);
    $("thread").prepend(li);
    $("earlier").hidden = false;
  }
}

export function startAnew() {
  turns = [];
  $("thread").replaceChildren();
  $("earlier").hidden = $("restart").hidden = $("answer").hidden = $("evidence").hidden = $("reader").hidden = true;
  $("asked").textContent = "";
}
$("restart").addEventListener("click", () => {
  startAnew();
  $("question").value = "";
  $("question").focus();
});
$("collection").addEventListener("change", startAnew);
