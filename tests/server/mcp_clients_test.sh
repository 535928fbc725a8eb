#!/bin/sh
# The official clients of the Model Context Protocol, of PyPI and of npm, unchanged: over HTTP and as programs
# start their tools, in both eras of the protocol. Speaks TAP; says what it skips where a registry is out of
# reach. CLIENTS_CACHE=DIR keeps what was installed for the next run.
. "$(dirname "$0")/tap.sh"
cache=${CLIENTS_CACHE:-$work}
mkdir "$work/docs"
printf '# Boats\n\nThe rowing boat Grebe carries four people.\n' >"$work/docs/boats.md"
serve "$work/home" --log-level warn
run 0 "$forage" ingest "$work/docs" --base "$work/docs" --url "$url"; check "documents are there" $?
program=$(realpath "$forage")
export URL="$url" FORAGE_PROGRAM="$program" HOME_DIR="$work/home" NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

cat >"$work/mcp_client.py" <<'PY'
import asyncio, os
from mcp import Client, StdioServerParameters
url, program, home = os.environ["URL"], os.environ["FORAGE_PROGRAM"], os.environ["HOME_DIR"]
def started(*args): return StdioServerParameters(command=program, args=["mcp", *args])
async def use(server, mode, version, tools):
    async with Client(server, mode=mode) as c:
        assert c.protocol_version == version and c.server_info.name == "forage"
        listed = await c.list_tools()
        assert [t.name for t in listed.tools] == tools, listed
        r = await c.call_tool("ask", {"question": "How many people does the Grebe carry?"})
        assert "four people" in r.structured_content["answer"] and r.structured_content["citations"][0]["verified"]
        r = await c.call_tool("search", {"query": "rowing boats"})
        first = r.structured_content["results"][0]
        assert first["id"] == "default/boats.md", first
        r = await c.call_tool("fetch", {"id": first["id"]})
        assert "Grebe" in r.structured_content["text"]
        resources = (await c.list_resources()).resources
        assert "Grebe" in (await c.read_resource(resources[0].uri)).contents[0].text
        assert len((await c.list_resource_templates()).resource_templates) == 1
        r = await c.call_tool("search", {"query": "x", "limit": 99})
        assert r.is_error and "between 1 and 50" in r.content[0].text
        for wrong in (c.call_tool("none", {}), c.read_resource("forage://default/none")):
            try: await wrong
            except Exception as e: assert type(e).__name__ == "MCPError", e
            else: raise AssertionError("it was not refused")
async def main():
    reads = ["search", "fetch", "ask", "list_collections"]
    for mode, version in (("auto", "2026-07-28"), ("legacy", "2025-11-25")):
        await use(url + "/mcp", mode, version, reads + ["ingest"])
        await use(started("--url", url), mode, version, reads + ["ingest"])
        await use(started("--home", home, "--read-only"), mode, version, reads)
asyncio.run(main())
PY

cat >"$work/mcp_client.mjs" <<'JS'
import assert from 'node:assert';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
for (const [mode, version] of [['auto', '2026-07-28'], ['legacy', '2025-11-25']]) {
    const c = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await c.connect(new StreamableHTTPClientTransport(new URL(process.env.URL + '/mcp')));
    assert.equal(c.getNegotiatedProtocolVersion(), version);
    assert.equal((await c.listTools()).tools.length, 5); // their schemas are compiled: results are held against them
    let r = await c.callTool({ name: 'ask', arguments: { question: 'How many people does the Grebe carry?' } });
    assert.match(r.structuredContent.answer, /four people/);
    r = await c.callTool({ name: 'search', arguments: { query: 'rowing böats' } });
    r = await c.callTool({ name: 'fetch', arguments: { id: r.structuredContent.results[0].id } });
    assert.match(r.structuredContent.text, /Grebe/);
    r = await c.callTool({ name: 'ingest', arguments: { documents: [{ id: 'wéir ' + mode, text: 'The weir is opened in March.' }] } });
    assert.equal(r.structuredContent.created, 1);
    await c.callTool({ name: 'list_collections', arguments: {} });
    const { resources } = await c.listResources();
    for (const one of resources) assert.ok((await c.readResource({ uri: one.uri })).contents[0].text);
    await assert.rejects(c.callTool({ name: 'none', arguments: {} }), (e) => e.code === -32602);
    await c.close();
}
JS

python=$cache/mcp-venv/bin/python
if [ ! -x "$python" ] || ! "$python" -c 'import mcp' 2>/dev/null; then
    { python3 -m venv "$cache/mcp-venv" && timeout 300 "$cache/mcp-venv/bin/pip" install -q --retries 1 \
        --timeout 20 'mcp>=2.3'; } >/dev/null 2>&1 || python=
fi
if [ -n "$python" ]; then
    run 0 "$python" "$work/mcp_client.py"
    check "the official Python client works, both eras, over HTTP and started" $?
else
    skip "the official Python client works" "pip reaches no registry, or there is no python3"
fi
node=$(command -v node)
if [ -n "$node" ] && [ ! -d "$cache/node_modules/@modelcontextprotocol/client" ]; then
    (cd "$cache" && timeout 300 npm install --silent --no-audit --no-fund --fetch-retries 1 \
        '@modelcontextprotocol/client@>=2.4') >/dev/null 2>&1 || node=
fi
if [ -n "$node" ]; then
    cp "$work/mcp_client.mjs" "$cache/forage-mcp-client.mjs"
    run 0 "$node" "$cache/forage-mcp-client.mjs"
    check "the official TypeScript client works, both eras" $?
else
    skip "the official TypeScript client works" "npm reaches no registry, or there is no node"
fi
stop TERM; check "the service stops cleanly after them" $?
finish
