// The TypeScript client's code against a service: calls, streams, errors, streams that are left.
import assert from 'node:assert';
import { Forage, ForageError } from '../../../server/clients/typescript/forage.js';

const f = new Forage(process.env.URL + '/');
const question = 'How often is the north pump serviced?';
let r = await f.ingest([{ id: 'kb-1', text: 'The north pump is serviced every 400 hours.', metadata: { year: 2026 } },
    { id: 'böats/1', text: 'The Grebe carries four people.' }], { collection: 'ts' });
assert.deepEqual(r.results.map((one) => one.status), ['created', 'created']);
r = await f.ingestFiles([new File(['<title>Weirs</title><p>The weir is opened in March.</p>'], 'weir.html')],
    { collection: 'ts', id: 'weir', metadata: { kind: 'weir' } });
assert.equal(r.results[0].status, 'created');
assert.equal((await f.call('GET /documents/{id}', { path: { id: 'böats/1' }, query: { collection: 'ts' } })).id, 'böats/1');
const ids = [];
for await (const d of f.documents({ collection: 'ts', limit: 1 })) ids.push(d.id);
assert.deepEqual(ids.sort(), ['böats/1', 'kb-1', 'weir'].sort());
const few = await f.call('GET /documents', { query: { collection: 'ts', filter: { type: 'eq', key: 'kind', value: 'weir' } } });
assert.equal(few.data.length, 1);

const reply = await f.query(question, { collection: 'ts', top_k: 3 });
assert.match(reply.answer, /400 hours/);
assert.equal(reply.citations[0].source.document_id, 'kb-1');
assert.equal((await f.search('weir', { collection: 'ts', top_k: 1 })).contexts[0].document_id, 'weir');

const names = [];
let text = '', done;
for await (const e of f.stream(question, { collection: 'ts' })) {
    names.push(e.name);
    if (e.name === 'token') text += e.data.text;
    if (e.name === 'done') done = e.data;
}
assert.equal(names[0], 'contexts');
assert.equal(names.at(-1), 'done');
assert.equal(text, done.answer);
for await (const _ of f.stream(question, { collection: 'ts', cache: 'bypass' })) break; // that is its end

await assert.rejects(f.query('q', { top_q: 1 }), (e) => e instanceof ForageError && e.status === 400 && e.param === 'top_q' && !!e.requestId);
await assert.rejects(f.query('q', { collection: 'none' }), (e) => e.code === 'not_found');
await assert.rejects(f.stream('q', { top_q: 1 }).next(), (e) => e.param === 'top_q');
const aborted = new AbortController();
aborted.abort();
await assert.rejects(f.query('q', { signal: aborted.signal }), (e) => e.name === 'AbortError');
await assert.rejects(new Forage('http://127.0.0.1:9').query('q'), TypeError);
assert.match(await f.call('GET /metrics'), /^# HELP/m);
assert.equal(await f.call('GET /analytics/feedback', { query: { format: 'queries' } }), null); // JSON lines are text: here there are none
const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0xff, 0x00, 0xfe);
const pictures = new Forage('http://127.0.0.1:9', { fetch: async () => new Response(png, { headers: { 'Content-Type': 'image/png' } }) });
const page = await pictures.call('GET /pages/{id}', { path: { id: 'weir' } });
assert.equal(page.type, 'image/png');
assert.deepEqual(new Uint8Array(await page.arrayBuffer()), png);
let sent;
function ofABrowser(url, given) { // it wants to be called as the window's, or nobody's
    if (this !== undefined && this !== globalThis) throw new TypeError('Illegal invocation');
    sent = given.body;
    return Promise.resolve(Response.json({ results: [] }));
}
const browser = new Forage('http://127.0.0.1:9', { fetch: ofABrowser });
assert.deepEqual(await browser.query('q'), { results: [] });
await browser.ingestFiles([new File(['a'], 'a.txt')],
    { collection: undefined, language: null, acl: ['staff', 'crew'], metadata: { year: 2026 }, overlap: 0 });
const fields = [...sent.entries()].filter(([name]) => name !== 'file');
assert.deepEqual(fields, [['acl', 'staff,crew'], ['metadata', '{"year":2026}'], ['overlap', '0']]);
for (const id of ['.', '..', '', undefined]) // they would ask, or delete by, another route
    await assert.rejects(f.call('DELETE /documents/{id}', { path: { id } }), (e) => e instanceof ForageError && e.code === 'bad_field' && e.param === 'id');
await assert.rejects(f.call('GET /documents/{id}'), (e) => e.code === 'bad_field' && e.status === 0);
for (const id of ['...', '%2e', '..\u2025'])
    await assert.rejects(f.call('GET /documents/{id}', { path: { id }, query: { collection: 'ts' } }), (e) => e.status === 404 && e.code === 'not_found');
assert.equal((await f.call('DELETE /documents/{id}', { path: { id: 'kb-1' }, query: { collection: 'ts' } })).deleted, true);
await f.call('DELETE /collections/{name}', { path: { name: 'ts' } });
