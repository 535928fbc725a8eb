// A client of a Forage service: every route by its name, streams as they come. Needs nothing but fetch (Node 18, browsers).

/** What the service refused: code, the field at fault (param) and a sentence. */
export class ForageError extends Error {
    constructor(status, error) {
        super(error.message);
        this.name = 'ForageError';
        this.status = status;
        this.code = error.code;
        this.param = error.param ?? null;
        this.requestId = error.request_id ?? null;
    }
}

/** Server-sent events of a body. */
async function* events(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '', name = '', data = [];
    try {
        for (;;) {
            const { done, value } = await reader.read();
            if (done) return;
            text += value;
            const lines = text.split('\n');
            text = lines.pop();
            for (const raw of lines) {
                const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
                if (line.startsWith('event:')) name = line.slice(6).trim();
                else if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
                else if (line === '' && data.length) {
                    yield { name, data: data.join('\n') };
                    name = '';
                    data = [];
                }
            }
        }
    } finally {
        await reader.cancel().catch(() => {}); // who stops listening ends the call
    }
}

/** A value's segment of a route's path. What is empty, "." or ".." would be folded into the path of another route. */
function segment(path, name) {
    const value = path[name] === undefined || path[name] === null ? '' : String(path[name]);
    if (value === '' || value === '.' || value === '..')
        throw new ForageError(0, { code: 'bad_field', param: name, message: `${name} is '${value}', which names nothing in a path` });
    return encodeURIComponent(value);
}

/** A field of a form: groups are one text with commas there, what else is no plain value is JSON. */
function fieldText(name, value) {
    if (name === 'acl' && Array.isArray(value)) return value.join(',');
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const isText = (type) => type === '' || type.startsWith('text/') || type.includes('json');

export class Forage {
    #base;
    #headers;
    #fetch;

    constructor(url = 'http://127.0.0.1:8080', { key, fetch: use = globalThis.fetch } = {}) {
        this.#base = url.replace(/\/+$/, '');
        this.#headers = key ? { Authorization: `Bearer ${key}` } : {};
        this.#fetch = (...given) => use(...given); // a browser's fetch refuses to be called as another object's
    }

    async #send(route, { path = {}, query = {}, body, signal } = {}) {
        const [method, pattern] = route.split(' ');
        const filled = pattern.replace(/\{(\w+)\}/g, (_, name) => segment(path, name));
        const url = new URL(this.#base + filled);
        for (const [name, value] of Object.entries(query))
            if (value !== undefined && value !== null)
                url.searchParams.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
        const plain = body === undefined || body instanceof FormData || body instanceof Blob || typeof body === 'string';
        const reply = await this.#fetch(url, {
            method, signal,
            headers: plain ? this.#headers : { ...this.#headers, 'Content-Type': 'application/json' },
            body: plain ? body : JSON.stringify(body),
        });
        if (reply.ok) return reply;
        const said = await reply.json().catch(() => null);
        throw new ForageError(reply.status, said?.error ?? { code: 'error', message: `the service answered ${reply.status}` });
    }

    async call(route, given) {
        const reply = await this.#send(route, given);
        const type = (reply.headers.get('Content-Type') ?? '').split(';')[0].trim().toLowerCase();
        if (!isText(type)) return reply.blob(); // a page's picture
        const text = await reply.text();
        return type === 'application/json' ? JSON.parse(text) : text || null; // a list of JSON lines is text
    }

    query(query, options = {}) {
        const { signal, ...body } = options;
        return this.call('POST /query', { body: { ...body, query }, signal });
    }

    search(query, options = {}) {
        const { signal, ...body } = options;
        return this.call('POST /search', { body: { ...body, query }, signal });
    }

    async *stream(query, options = {}) {
        const { signal, ...body } = options;
        const reply = await this.#send('POST /query', { body: { ...body, query, stream: true }, signal });
        for await (const { name, data } of events(reply.body)) {
            const value = JSON.parse(data);
            if (name === 'error') throw new ForageError(reply.status, value.error);
            yield { name, data: value };
            if (name === 'done') return;
        }
        throw new ForageError(reply.status, { code: 'io', message: 'the answer ended before its end' });
    }

    ingest(documents, options = {}) {
        return this.call('POST /ingest', { body: { ...options, documents } });
    }

    ingestFiles(files, fields = {}) {
        const form = new FormData();
        for (const [name, value] of Object.entries(fields))
            if (value !== undefined && value !== null) form.set(name, fieldText(name, value));
        for (const file of files) form.append('file', file, file.name);
        return this.call('POST /ingest', { body: form });
    }

    async *documents(query = {}) {
        for (let after = query.after; ;) {
            const page = await this.call('GET /documents', { query: { ...query, after } });
            yield* page.data;
            if (!page.has_more) return;
            after = page.last_id;
        }
    }
}
