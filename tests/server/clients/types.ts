// What TypeScript lets through, and what it must not: compiled, never run.
import { Forage, ForageError, type QueryReply, type StreamEvent } from '../../../server/clients/typescript/forage.js';

export async function use(f: Forage): Promise<string> {
    const r: QueryReply = await f.query('q', { top_k: 4, filter: { type: 'gte', key: 'year', value: 2024 }, grounding: 'loose' });
    const quotes: string[] = (r.citations ?? []).map((c) => c.quote ?? '');
    for await (const e of f.stream('q', { collection: 'notes' })) show(e);
    const d = await f.call('GET /documents/{id}', { path: { id: 'kb-1' }, query: { text: false } });
    for await (const one of f.documents({ limit: 10 })) quotes.push(one.id);
    const i = await f.ingest([{ text: 'a', metadata: { year: 2026 } }]);
    await f.call('GET /collections');
    const page: Blob = await f.call('GET /pages/{id}', { path: { id: 'kb-1' } });
    // @ts-expect-error a field that nobody knows
    await f.query('q', { top_q: 4 });
    // @ts-expect-error a word that is none of those
    await f.query('q', { grounding: 'hard' });
    // @ts-expect-error no such route
    await f.call('GET /nothing');
    // @ts-expect-error the id is missing
    await f.call('GET /documents/{id}');
    // @ts-expect-error a document needs its text
    await f.ingest([{ id: 'a' }]);
    // @ts-expect-error a number is no name
    await f.search('q', { collection: 3 });
    return quotes.join() + d.id + page.type + JSON.stringify(i);
}

function show(e: StreamEvent): void {
    if (e.name === 'token') console.log(e.data.text.length);
    else if (e.name === 'done') console.log(e.data.answer);
    // @ts-expect-error tokens have no answer
    if (e.name === 'token') console.log(e.data.answer);
}

export const failed = (e: unknown): string => (e instanceof ForageError ? e.code + e.status : '');
