#!/bin/sh
# The official OpenAI clients, of PyPI and of npm, unchanged, against a running service: chat, streams,
# embeddings, errors, clients that leave. Speaks TAP; says what it skips where a registry or the model
# is out of reach. CLIENTS_CACHE=DIR keeps what was installed for the next run.
. "$(dirname "$0")/tap.sh"
model=$shared/models/stories260K.gguf
[ ! -f models/smollm2-135m-instruct-q4_1.gguf ] || model=models/smollm2-135m-instruct-q4_1.gguf
[ -f "$model" ] || skip_all "the official clients work" "no model is here (make models)"
cache=${CLIENTS_CACHE:-$work}
# Applications have the names of OpenAI's models in their code: aliases make them ours.
name_of() { "$forage" inspect --json "$1" | sed -n 's/^{"architecture":"\([^"]*\)","name":"\([^"]*\)".*/\2|\1/p' | sed 's/^|//; s/|.*//'; }
serve "$work/home" --model "$model" --kv-ram 128M --log-level warn --model-alias "gpt-4o-mini=$(name_of "$model")" \
    --model-alias "text-embedding-3-small=$(name_of data/models/forage-embed-256.gguf)"
check "the service starts" $?
mkdir "$work/docs"
echo "Morels must be cooked for at least ten minutes." >"$work/docs/morels.txt"
printf '# Tar\n\nThe option -t lists the contents of an archive.\n' >"$work/docs/tar.md"
"$forage" ingest "$work/docs" --url "$url" >/dev/null 2>&1
case $model in models/*) TOOLS=yes ;; *) TOOLS=no ;; esac
export TOOLS OPENAI_BASE_URL="$url/v1" OPENAI_API_KEY=none NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

cat >"$work/client.py" <<'PY'
import openai
c = openai.OpenAI(max_retries=0, timeout=120)
m = [{"role": "user", "content": "Tell a short story."}]
r = c.chat.completions.create(model="gpt-4o-mini", messages=m, max_tokens=12, temperature=0,
                              logprobs=True, top_logprobs=2)
whole = r.choices[0].message.content
assert r.choices[0].finish_reason in ("stop", "length") and r.usage.completion_tokens >= 1
assert r.choices[0].logprobs is None or len(r.choices[0].logprobs.content[0].top_logprobs) == 2
text, usage = "", None
for k in c.chat.completions.create(model="gpt-4o-mini", messages=m, max_tokens=12, temperature=0, stream=True,
                                   stream_options={"include_usage": True}):
    if k.choices: text += k.choices[0].delta.content or ""
    usage = k.usage or usage
assert text == whole, (text, whole)
assert usage.total_tokens == r.usage.total_tokens
r = c.chat.completions.create(model="gpt-4o-mini", messages=m, max_tokens=8, n=2, seed=1)
assert [k.index for k in r.choices] == [0, 1]
e = c.embeddings.create(model="text-embedding-3-small", input=["red fox", "bread"])
f = c.embeddings.create(model="text-embedding-3-small", input=["red fox", "bread"], encoding_format="float")
assert max(abs(a - b) for a, b in zip(e.data[1].embedding, f.data[1].embedding)) < 1e-6
assert any(k.id == "forage/default" for k in c.models.list())
assert c.models.retrieve("forage/default").id == "forage/default"
r = c.completions.create(model="gpt-4o-mini", prompt="Once upon", max_tokens=5, temperature=0)
assert isinstance(r.choices[0].text, str)
from typing import List, Literal
import os, pydantic
class Small(pydantic.BaseModel):
    kind: Literal["cat", "dog"]
class Pet(Small):
    age: int = pydantic.Field(ge=1, le=20)
    tags: List[Literal["x", "y"]] = pydantic.Field(max_length=2)
if os.environ["TOOLS"] != "yes":  # a window of 128 tokens may have no room for more and the blanks between
    Pet = Small
for temperature in (0, 1) if os.environ["TOOLS"] == "yes" else (0,):
    r = c.chat.completions.parse(model="gpt-4o-mini", messages=m, response_format=Pet, max_tokens=100,
                                 temperature=temperature, seed=4)
    assert r.choices[0].message.parsed.kind in ("cat", "dog"), r
def tool(name, **properties):
    return {"type": "function", "function": {"name": name, "description": name, "parameters": {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}}}
tools = [tool("weather", city={"type": "string", "maxLength": 20}), tool("turn", way={"enum": ["left", "right"]})]
if os.environ["TOOLS"] == "yes":  # a prompt with tools needs a window of some size
    ask = dict(model="gpt-4o-mini", tools=tools, parallel_tool_calls=False, temperature=0, max_tokens=80,
               messages=[{"role": "user", "content": "Which way?"}])
    r = c.chat.completions.create(tool_choice={"type": "function", "function": {"name": "turn"}}, **ask)
    call = r.choices[0].message.tool_calls[0]
    assert r.choices[0].finish_reason == "tool_calls" and r.choices[0].message.content is None
    assert call.function.name == "turn" and "way" in call.function.arguments, call
    name, arguments, end = None, "", None
    for k in c.chat.completions.create(tool_choice={"type": "function", "function": {"name": "turn"}}, stream=True, **ask):
        for d in k.choices[0].delta.tool_calls or []:
            name = d.function.name or name
            arguments += d.function.arguments or ""
        end = k.choices[0].finish_reason or end
    assert (name, arguments, end) == ("turn", call.function.arguments, "tool_calls"), (name, arguments, end)
    r = c.chat.completions.create(tool_choice="required", **ask)
    assert r.choices[0].message.tool_calls[0].function.name in ("weather", "turn")
    ask["messages"] = ask["messages"] + [r.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "ok"}]
    r = c.chat.completions.create(tool_choice="none", **ask)
    assert r.choices[0].message.tool_calls is None and r.usage.completion_tokens > 0
r = c.responses.create(model="gpt-4o-mini", input="Tell a short story.", max_output_tokens=12, temperature=0)
assert r.output_text == whole and r.status in ("completed", "incomplete"), (r.output_text, whole)
with c.responses.stream(model="gpt-4o-mini", input="Tell a short story.", max_output_tokens=12, temperature=0) as s:
    text = "".join(e.delta for e in s if e.type == "response.output_text.delta")
    assert text == whole
assert c.responses.parse(model="gpt-4o-mini", input="JSON", text_format=Pet, temperature=0,
                          max_output_tokens=100).output_parsed.kind in ("cat", "dog")
r = c.responses.create(model="forage/default", input="How long must morels be cooked?")
assert "ten minutes" in r.output_text and r.output[0].content[0].annotations[0].filename, r
if os.environ["TOOLS"] == "yes":
    flat = {"type": "function", **tools[1]["function"]}
    r = c.responses.create(model="gpt-4o-mini", input="Which way?", tools=[flat], tool_choice="required",
                           parallel_tool_calls=False, temperature=0)
    assert r.output[0].type == "function_call" and "way" in r.output[0].arguments, r
    r = c.responses.create(model="gpt-4o-mini", tools=[flat], tool_choice="none", max_output_tokens=8,
        input=[{"role": "user", "content": "Which way?"}, r.output[0],
               {"type": "function_call_output", "call_id": r.output[0].call_id, "output": "ok"}])
    assert r.output[0].type == "message"
r = c.chat.completions.create(model="forage/default",
                              messages=[{"role": "user", "content": "How long must morels be cooked?"}])
assert "ten minutes" in r.choices[0].message.content and r.citations[0]["verified"], r
for kind, call in ((openai.BadRequestError, lambda: c.embeddings.create(model="text-embedding-3-small", input="a", dimensions=3)),
                   (openai.BadRequestError, lambda: c.chat.completions.create(model="gpt-4o-mini", messages=[])),
                   (openai.BadRequestError, lambda: c.chat.completions.create(model="gpt-4o-mini", messages=m,
                    tools=[{"type": "function", "function": {"name": "f", "strict": True, "parameters": {"not": {}}}}])),
                   (openai.BadRequestError, lambda: c.chat.completions.create(model="gpt-4o-mini", messages=m,
                    extra_body={"stop_token_ids": [-2]})),
                   (openai.NotFoundError, lambda: c.chat.completions.create(model="gpt-9", messages=m)),
                   (openai.NotFoundError, lambda: c.embeddings.create(model="gpt-4o-mini", input="a")),
                   (openai.NotFoundError, lambda: c.models.retrieve("none"))):
    try:
        call()
    except kind as x:
        assert x.body["message"] and x.param is not None
    else:
        raise AssertionError(kind)
r = c.chat.completions.create(model="gpt-4o-mini", messages=m, max_tokens=2, user="u", metadata={"a": "b"}, store=False,
                              service_tier="auto", parallel_tool_calls=False, tools=[], tool_choice="none", n=1,
                              logit_bias=None, modalities=["text"], presence_penalty=0, safety_identifier="s",
                              response_format={"type": "text"}, prompt_cache_key="k")
again = m + [r.choices[0].message.model_dump(), {"role": "user", "content": "Go on."}]
assert c.chat.completions.create(model="gpt-4o-mini", messages=again, max_tokens=2).choices
s = c.chat.completions.create(model="gpt-4o-mini", messages=m, max_tokens=400, stream=True)
next(iter(s))
s.close()
assert c.chat.completions.create(model="gpt-4o-mini", messages=m, max_tokens=2).choices
PY
cat >"$work/client.mjs" <<'JS'
import OpenAI from 'openai';
import assert from 'node:assert';
const c = new OpenAI({ maxRetries: 0, timeout: 120000 });
const messages = [{ role: 'user', content: 'Tell a short story.' }];
let r = await c.chat.completions.create({ model: 'gpt-4o-mini', messages, max_tokens: 12, temperature: 0 });
const whole = r.choices[0].message.content;
let text = '';
let s = await c.chat.completions.create({ model: 'gpt-4o-mini', messages, max_tokens: 12, temperature: 0, stream: true });
for await (const k of s) text += k.choices[0]?.delta?.content ?? '';
assert.equal(text, whole);
const e = await c.embeddings.create({ model: 'text-embedding-3-small', input: ['red fox', 'bread'] });
assert.equal(e.data.length, 2);
assert.ok(Math.abs(e.data[0].embedding.reduce((a, v) => a + v * v, 0) - 1) < 1e-4);
r = await c.chat.completions.create({ model: 'forage/default',
  messages: [{ role: 'user', content: 'How long must morels be cooked?' }] });
assert.ok(r.choices[0].message.content.includes('ten minutes') && r.citations.length);
await assert.rejects(c.chat.completions.create({ model: 'gpt-4o-mini', messages: [] }), (x) => x.status === 400 && !!x.param);
await assert.rejects(c.chat.completions.create({ model: 'gpt-9', messages }), (x) => x instanceof OpenAI.NotFoundError && x.param === 'model');
await assert.rejects(c.models.retrieve('none'), (x) => x instanceof OpenAI.NotFoundError);
s = await c.chat.completions.create({ model: 'gpt-4o-mini', messages, max_tokens: 400, stream: true });
for await (const k of s) { s.controller.abort(); break; }
r = await c.chat.completions.create({ model: 'gpt-4o-mini', messages, max_tokens: 2 });
assert.ok(r.choices.length);
JS

python=$cache/venv/bin/python
if [ ! -x "$python" ] || ! "$python" -c 'import openai' 2>/dev/null; then
    { python3 -m venv "$cache/venv" && timeout 300 "$cache/venv/bin/pip" install -q --retries 1 \
        --timeout 20 openai; } >/dev/null 2>&1 || python=
fi
if [ -n "$python" ]; then
    run 0 "$python" "$work/client.py"
    check "the official Python client works unchanged" $?
else
    skip "the official Python client works unchanged" "pip reaches no registry, or there is no python3"
fi
node=$(command -v node)
if [ -n "$node" ] && [ ! -d "$cache/node_modules/openai" ]; then
    (cd "$cache" && timeout 300 npm install --silent --no-audit --no-fund --fetch-retries 1 openai) \
        >/dev/null 2>&1 || node=
fi
if [ -n "$node" ]; then
    cp "$work/client.mjs" "$cache/forage-client.mjs"
    run 0 "$node" "$cache/forage-client.mjs"
    check "the official Node client works unchanged" $?
else
    skip "the official Node client works unchanged" "npm reaches no registry, or there is no node"
fi
stop TERM; check "the service stops cleanly after them" $?
finish
