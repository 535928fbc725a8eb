// Types of forage.js; what the routes take and give is in api.d.ts.
import type { Document, QueryReply, QueryRequest, Routes } from './api.js';

export type * from './api.js';

/** What the service refused: code ("bad_field", "not_found", ...), the field at fault and a sentence. */
export class ForageError extends Error {
    /** Of HTTP; 0: it was refused before it was sent. */
    status: number;
    code: string;
    param: string | null;
    requestId: string | null;
}

type Defined<T> = { [K in keyof T as T[K] extends undefined ? never : K]: T[K] };
/** path, query and body of a route, those that it has. */
export type Given<R extends keyof Routes> = Defined<Pick<Routes[R], 'path' | 'body'>> &
    (Routes[R]['query'] extends undefined ? {} : { query?: Routes[R]['query'] }) & { signal?: AbortSignal };
export type Reply<R extends keyof Routes> = Routes[R]['reply'];

type Options = Omit<QueryRequest, 'query' | 'stream'> & { signal?: AbortSignal };
type SearchReply = Reply<'POST /search'>;
type IngestRequest = Extract<Routes['POST /ingest']['body'], object>;

export type StreamEvent =
    | { name: 'contexts'; data: Pick<QueryReply, 'contexts'> }
    | { name: 'draft'; data: Pick<QueryReply, 'answer' | 'citations'> }
    | { name: 'token'; data: { text: string } }
    | { name: 'citation'; data: NonNullable<QueryReply['citations']>[number] }
    | { name: 'done'; data: QueryReply };

/**
 * A service. Errors are ForageError, or what fetch throws.
 *
 *     const f = new Forage('http://127.0.0.1:8080', { key });
 *     for await (const event of f.stream('How often is the north pump serviced?'))
 *         if (event.name === 'token') process.stdout.write(event.data.text);
 */
export class Forage {
    constructor(url?: string, options?: { key?: string; fetch?: typeof fetch });
    /** Any route: call('GET /documents/{id}', { path: { id: 'kb-1' } }). What is neither JSON nor text comes as a Blob. */
    call<R extends keyof Routes>(route: R, ...given: {} extends Given<R> ? [Given<R>?] : [Given<R>]): Promise<Reply<R>>;
    /** A verified answer with citations. */
    query(query: string, options?: Options): Promise<QueryReply>;
    /** Passages. */
    search(query: string, options?: Partial<Omit<Routes['POST /search']['body'], 'query'>> & { signal?: AbortSignal }): Promise<SearchReply>;
    /** As query, event by event; leaving the loop ends the call. */
    stream(query: string, options?: Options): AsyncGenerator<StreamEvent, void>;
    ingest(documents: IngestRequest['documents'], options?: Omit<IngestRequest, 'documents'>): Promise<Reply<'POST /ingest'>>;
    /** Files as a form: fields (collection, metadata, acl, ...) come before them; those that are undefined or null are left out. */
    ingestFiles(files: Iterable<File>, fields?: Record<string, unknown>): Promise<Reply<'POST /ingest'>>;
    /** All documents, page by page. */
    documents(query?: Routes['GET /documents']['query']): AsyncGenerator<Document, void>;
}
