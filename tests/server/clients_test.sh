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
export OPENAI_BASE_URL="$url/v1" OPENAI_API_KEY=none NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

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
r = c.chat.completions.create(model="forage/default",
                              messages=[{"role": "user", "content": "How long must morels be cooked?"}])
assert "ten minutes" in r.choices[0].message.content and r.citations[0]["verified"], r
for kind, call in ((openai.BadRequestError, lambda: c.embeddings.create(model="text-embedding-3-small", input="a", dimensions=3)),
                   (openai.BadRequestError, lambda: c.chat.completions.create(model="gpt-4o-mini", messages=[])),
                   (openai.BadRequestError, lambda: c.chat.completions.create(model="gpt-4o-mini", messages=m,
                    tools=[{"type": "function", "function": {"name": "f", "parameters": {}}}])),
                   (openai.BadRequestError, lambda: c.chat.completions.create(model="gpt-4o-mini", messages=m,
                    extra_body={"stop_token_ids": [2]})),
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
