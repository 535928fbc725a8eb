// Made by generate.mjs of the service's description (GET /openapi.json): do not edit.

export type Error = {
    error: {
        type: string;
        code: string;
        message: string;
        param: string | null;
        request_id: string;
    };
};

/** As OpenAI's. Tool calls, pictures and sound are refused by name */
export type ChatMessage = {
    role: "system" | "developer" | "user" | "assistant" | "tool";
    content?: string | null | Array<{
        text?: string;
        refusal?: string;
    }>;
    /** Of an assistant's message without a content: why there was no answer, taken as what it said */
    refusal?: string | null;
    /** Given to the model's chat template */
    name?: string;
    tool_call_id?: string;
};

export type Message = {
    role: "system" | "user" | "assistant";
    content: string;
};

/** A condition on documents' metadata */
export type Filter = {
    type: "eq" | "ne" | "gt" | "gte" | "lt" | "lte";
    key: string;
    value: unknown;
} | {
    type: "in" | "nin";
    key: string;
    value: Array<unknown>;
} | {
    type: "exists";
    key: string;
} | {
    type: "and" | "or" | "not";
    filters?: Array<Filter>;
};

export type DocumentIn = {
    /** Default: derived from the content hash */
    id?: string;
    text: string;
    title?: string;
    uri?: string;
    content_type?: string;
    metadata?: Record<string, unknown>;
    /** Groups that may see it; absent: everybody of the tenant */
    acl?: Array<string>;
};

export type IngestRequest = {
    collection?: string;
    /** Of a new collection: a Snowball name or none */
    language?: string;
    wait?: boolean;
    documents: Array<DocumentIn>;
    chunking?: {
        max_tokens?: number;
        overlap?: number;
    };
};

export type IngestResult = {
    /** Of a file that failed and was given no id: the file's name */
    id: string | null;
    /** The name under which a form sent it */
    file?: string;
    /** skipped: a member of an archive that is of no kind that is read; kind says which. */
    status: "created" | "updated" | "unchanged" | "failed" | "skipped";
    /** Of a skipped member: its ending, hidden, link. */
    kind?: string;
    content_sha256?: string | null;
    chunks: number;
    /** Ill-formed byte sequences replaced by U+FFFD */
    replaced?: number;
    error: null | {
        code?: string;
        message?: string;
        param?: string | null;
    };
};

export type IngestReply = {
    collection: string;
    epoch: number;
    results: Array<IngestResult>;
    timings_ms: {
        extract?: number;
        chunk?: number;
        embed?: number;
        index?: number;
        commit?: number;
        total?: number;
    };
};

export type JobAccepted = {
    job_id: string;
    status: string;
    collection?: string;
};

export type Job = {
    job_id: string;
    kind?: string;
    status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
    collection?: string | null;
    progress: {
        total?: number | null;
        done?: number;
        failed?: number;
        /** While it runs: pages of PDF that were read, also of a document that is not done */
        pages?: number;
        /** While it runs: passages that were embedded, also of a document that is not done */
        passages?: number;
    };
    error?: string | null;
    result?: Record<string, unknown> | null;
    created_at?: string;
    updated_at?: string;
};

export type SearchRequest = {
    query?: string;
    messages?: Array<Message>;
    collection?: string;
    top_k?: number;
    filter?: Filter;
    search?: {
        mode?: "hybrid" | "dense" | "sparse";
        fusion?: "weighted" | "rrf" | "dbsf";
        /** Dense weight; 1 = dense only. Default: the collection's, else the embedder's */
        alpha?: number;
        rrf_k?: number;
        ef?: number;
        rerank?: true | false | "none" | "model" | "reader";
        score_threshold?: number;
    };
    cache?: "default" | "bypass" | "refresh";
    include?: Array<"contexts" | "scores">;
    /** How a turn that leans on the messages before it is made whole: by words of them, or by the language model (words where what it writes does not hold) */
    rewrite?: "auto" | "words" | "model" | "off";
    /** The asker's day, which "today" and "tomorrow" of a question are told from; without it the service's own */
    today?: string;
    timeout_ms?: number;
};

export type QueryRequest = {
    query?: string;
    messages?: Array<Message>;
    collection?: string;
    top_k?: number;
    filter?: Filter;
    search?: {
        mode?: "hybrid" | "dense" | "sparse";
        fusion?: "weighted" | "rrf" | "dbsf";
        /** Dense weight; 1 = dense only. Default: the collection's, else the embedder's */
        alpha?: number;
        rrf_k?: number;
        ef?: number;
        rerank?: true | false | "none" | "model" | "reader";
        score_threshold?: number;
    };
    cache?: "default" | "bypass" | "refresh";
    include?: Array<"contexts" | "scores">;
    /** How a turn that leans on the messages before it is made whole: by words of them, or by the language model (words where what it writes does not hold) */
    rewrite?: "auto" | "words" | "model" | "off";
    /** The asker's day, which "today" and "tomorrow" of a question are told from; without it the service's own */
    today?: string;
    timeout_ms?: number;
    generate?: boolean;
    grounding?: "strict" | "loose";
    /** Of what the language model writes; it is not given more time than timeout_ms either */
    max_tokens?: number;
    /** Of the answer; rows of a table that answer alike count as one */
    max_sentences?: number;
    /** Say which few words of an answer in the documents' words are the answer, where the reader is sure of them */
    short_answer?: boolean;
    temperature?: number;
    top_p?: number;
    /** Draw from so many of the likeliest tokens; 0: from all. What /v1 calls top_k: here that is the number of contexts */
    sampling_top_k?: number;
    /** Leave out tokens below this share of the likeliest one's probability */
    min_p?: number;
    presence_penalty?: number;
    frequency_penalty?: number;
    /** Logits of tokens that were there are divided by it (multiplied, where negative); 1: none */
    repetition_penalty?: number;
    seed?: number;
    /** Strings, each of at most 1024 bytes, that end the answer, written or extractive: nothing of it from the first of them on is given. Its markers [n] are not looked at */
    stop?: string | Array<string>;
    /** Of a written answer: higher is sooner */
    priority?: number;
    /** Of the contexts in the prompt: by score, or so that the longest prefix is in the KV cache already (the answer may then depend on what was asked before) */
    order?: "score" | "cache";
    /** exact: what is met again changes no bit of the answer; chunk: contexts' KV is met again at any place and in any company, and a share of it computed again (close to exact, sooner); off: nothing is met again nor left (docs/kv.md) */
    kv_reuse?: "exact" | "chunk" | "off";
    /** Compute and keep the KV of the prompt, write nothing; needs a language model */
    prefill_only?: boolean;
    /** false: its KV pages are free at the end */
    keep_kv?: boolean;
    /** Guess ahead from the prompt; the answer is the same without. */
    lookup?: boolean;
    diffusion?: Diffusion;
    sparse?: Sparse;
    stream?: boolean;
};

export type Context = {
    chunk_id: string;
    document_id: string;
    title?: string | null;
    uri?: string | null;
    heading?: string | null;
    text: string;
    start: number;
    end: number;
    /** Of a PDF. */
    page?: number;
    /** x0, y0, x1, y1 of the paragraph on its page, in points from the upper left corner. */
    bbox?: Array<number>;
    slide?: number;
    /** Of a text file: source code, reStructuredText, AsciiDoc, Org, LaTeX, JSON, YAML, XML. */
    line?: number;
    /** Of subtitles: from and to, in seconds. */
    time?: Array<number>;
    sheet?: string;
    /** Cells of the sheet, "B2:D9". */
    range?: string;
    metadata?: Record<string, unknown>;
    score: number;
    /** By the reader: how likely this passage answers the question. Absent where it was not read. */
    answers?: number;
    scores?: {
        dense?: number | null;
        sparse?: number | null;
        rerank?: number | null;
    };
};

export type Citation = {
    index: number;
    answer_span: {
        start?: number;
        end?: number;
    };
    quote: string;
    verified: boolean;
    source: {
        document_id?: string;
        chunk_id?: string;
        title?: string | null;
        uri?: string | null;
        start?: number;
        end?: number;
        /** Of a PDF. */
        page?: number;
        /** x0, y0, x1, y1 of the paragraph on its page, in points from the upper left corner. */
        bbox?: Array<number>;
        slide?: number;
        /** Of a text file: source code, reStructuredText, AsciiDoc, Org, LaTeX, JSON, YAML, XML. */
        line?: number;
        /** Of subtitles: from and to, in seconds. */
        time?: Array<number>;
        sheet?: string;
        /** Cells of the sheet, "B2:D9". */
        range?: string;
    };
};

export type SearchReply = {
    id?: string;
    model?: string;
    epoch?: number;
    status?: "answered" | "no_context";
    contexts?: Array<Context>;
    /** What was searched for and answered instead of the question, where it leant on earlier messages or had a misspelt word */
    rewritten?: {
        query?: string;
        by?: "words" | "model" | "spelling";
    };
    /** true while the chunks of a damaged file of the index come back from the store: documents may be missing from this reply, ask again in a moment. Absent otherwise */
    index_incomplete?: boolean;
    collapsed?: number;
    usage?: Usage;
    cache?: CacheReport;
    timings_ms?: Timings;
    /** first_visible_ms: words of the answer in a stream, a draft's too; else the whole. */
    timings?: {
        queue_ms?: number;
        retrieval_ms?: number;
        prefill_ms?: number;
        decode_ms?: number;
        first_visible_ms?: number;
        total_ms?: number;
    };
    /** Of an answer that a model wrote; 0: none did. */
    tokens_per_s?: number;
};

export type QueryReply = {
    id: string;
    model: string;
    epoch: number;
    /** With a marker [n] behind what citation n supports. Such markers are the service's alone: those of documents are put into round brackets */
    answer?: string;
    status?: "answered" | "abstained" | "no_context";
    /** generated: the language model's, every sentence verified under strict grounding; extractive: the documents' own sentences */
    answer_source?: "generated" | "extractive" | "none";
    /** Where there is no answer: what to say, in the question's language (en, de, fr, es, it, pt, ru, zh, ja, ar, hi) */
    refusal?: string;
    finish_reason?: "stop" | "stop_sequence" | "length" | "abstain" | "timeout" | "cancelled";
    stop_sequence?: string | null;
    support?: number;
    /** Where short_answer was asked for and told: the few words of answer that answer, and where they stand in it (code points) */
    short_answer?: {
        text?: string;
        start?: number;
        end?: number;
    };
    citations?: Array<Citation>;
    contexts?: Array<Context>;
    /** What was searched for and answered instead of the question, where it leant on earlier messages or had a misspelt word */
    rewritten?: {
        query?: string;
        by?: "words" | "model" | "spelling";
    };
    /** true while the chunks of a damaged file of the index come back from the store: documents may be missing from this reply, ask again in a moment. Absent otherwise */
    index_incomplete?: boolean;
    collapsed?: number;
    /** What a language model was given to read; absent where none was asked */
    prompt?: {
        /** chunk_ids in the order of the prompt */
        contexts?: Array<string>;
        /** Contexts left out for want of room */
        dropped?: number;
        /** Earlier turns left out, the oldest */
        turns_dropped?: number;
        /** The only context was too long and lost its end */
        cut?: boolean;
    };
    usage: Usage;
    cache: CacheReport;
    timings_ms: Timings;
    /** first_visible_ms: words of the answer in a stream, a draft's too; else the whole. */
    timings?: {
        queue_ms?: number;
        retrieval_ms?: number;
        prefill_ms?: number;
        decode_ms?: number;
        first_visible_ms?: number;
        total_ms?: number;
    };
    /** Of an answer that a model wrote; 0: none did. */
    tokens_per_s?: number;
    diffusion?: DiffusionReport;
    sparse?: SparseReport;
};

export type Usage = {
    prompt_tokens?: number;
    completion_tokens?: number;
    total_tokens?: number;
    prompt_tokens_details?: {
        /** Tokens of the prompt that were not computed: attached, plus those of moved chunks (kv_reuse chunk) less what of these was computed again */
        cached_tokens?: number;
    };
};

export type CacheReport = {
    answer?: "hit" | "miss" | "bypass";
    retrieval?: "hit" | "miss" | "bypass";
    hot_estimate?: number;
    kv?: {
        prefix_tokens?: number;
        chunk_tokens?: number;
        recomputed_tokens?: number;
        /** of prefix_tokens and chunk_tokens: read back from disk */
        disk_tokens?: number;
    };
};

export type Timings = {
    queue?: number;
    embed?: number;
    dense?: number;
    sparse?: number;
    fuse?: number;
    rerank?: number;
    prefill?: number;
    first_token?: number;
    decode?: number;
    total?: number;
};

export type Document = {
    id: string;
    /** Only where true, in a list: what is stored is not what was ingested, so that nothing but the id is given. Ingest it again or delete it. */
    damaged?: boolean;
    title?: string | null;
    uri?: string | null;
    content_type?: string | null;
    metadata?: Record<string, unknown> | null;
    acl?: Array<string> | null;
    content_sha256: string;
    chunks: number;
    text_bytes?: number;
    created_at?: string;
    updated_at?: string;
    /** Extracted text; offsets of citations count its code points */
    text?: string;
};

export type Collection = {
    name: string;
    language: string;
    documents: number;
    chunks: number;
    epoch: number;
    embedder?: string | null;
    dim?: number;
    alpha?: number | null;
    created_at?: string;
};

export type SyncReport = {
    dry_run?: boolean;
    created?: number;
    updated?: number;
    moved?: number;
    unchanged?: number;
    removed?: number;
    skipped?: number;
    failed?: number;
    /** That would have been removed, but too many would */
    withheld?: number;
    /** Whose files nobody could look for */
    kept?: number;
    without_text?: number;
    chunks?: number;
    skipped_by_kind?: Record<string, number>;
    /** The first thousand */
    failures?: Array<{
        file?: string;
        reason?: string;
    }>;
    /** Why nothing was removed */
    refused?: string | null;
    seconds?: number;
};

export type Source = {
    name?: string;
    path?: string;
    collection?: string;
    /** The service keeps it in step by itself */
    configured?: boolean;
    /** Changes are seen at once */
    watched?: boolean;
    state?: "idle" | "waiting" | "running" | "failed";
    documents?: number;
    started_at?: string | null;
    finished_at?: string | null;
    /** Why the last run failed as a whole */
    error?: string | null;
    /** Why it is not watched */
    note?: string | null;
    report?: SyncReport | null;
};

export type ConversationSummary = {
    id?: string;
    title?: string;
    /** Of its last turn */
    collection?: string;
    /** Other keys of the tenant that have its id may read it */
    shared?: boolean;
    /** false: it is somebody else's, shared */
    own?: boolean;
    n_turns?: number;
    created_at?: string;
    updated_at?: string;
};

export type Turn = {
    collection?: string;
    question?: string;
    answer?: string;
    /** What its owner said of it by POST /feedback; told to its owner alone */
    rating?: "up" | "down" | null;
    created_at?: string;
    /** As it was put there */
    reply?: Record<string, unknown>;
};

export type Conversation = {
    id?: string;
    title?: string;
    /** Of its last turn */
    collection?: string;
    /** Other keys of the tenant that have its id may read it */
    shared?: boolean;
    /** false: it is somebody else's, shared */
    own?: boolean;
    n_turns?: number;
    created_at?: string;
    updated_at?: string;
    turns?: Array<Turn>;
};

/** A key without its secret */
export type Key = {
    id?: string;
    name?: string;
    tenant?: string;
    scopes?: Array<string>;
    collections?: Array<string>;
    created_at?: string;
    revoked_at?: string | null;
    expires_at?: string | null;
};

/** How a diffusion model writes (docs/diffusion.md); refused by a model that writes token by token. Absent fields are the model's own choice */
export type Diffusion = {
    /** Passes over the answer at most, at least one a block. Default: one a token */
    steps?: number;
    /** Tokens that are denoised together, block after block; 0: the whole answer */
    block_length?: number;
    /** Which masks become tokens first */
    remasking?: "confidence" | "entropy" | "margin" | "random" | "origin";
    /** Above 0: steps go by timesteps from 1 down to this; 0: all unmask as many */
    eps?: number;
    /** Classifier-free guidance; 0: none */
    guidance?: number;
    /** Another name of guidance; not both */
    cfg_scale?: number;
    /** A step also unmasks whatever is surer than this; 0: off */
    threshold?: number;
    /** What is surer than threshold (0.9 where nothing says otherwise) is a guess at the steps that come, which are computed beside, and counts where they choose the same: the text is that of the steps without a threshold, for every remasking. Of models whose attention goes by blocks, without guidance and sparse.retention below 1 */
    verify?: boolean;
    /** Which keys and values are kept from pass to pass; what is approximate then is said in cache.kv.note and diffusion.note */
    kv?: "off" | "prompt" | "prefix" | "dual";
    /** Passes after which kept KV is computed afresh; 0: where a block begins */
    refresh?: number;
};

/** Which share of its KV each attention head keeps (docs/sparse.md). Absent fields are the model's own choice */
export type Sparse = {
    /** Share of what lies before the window that every head keeps; 1: all */
    retention?: number;
    /** Tokens written, or passes of a diffusion model, before anything is dropped */
    delay?: number;
    /** Tokens that are kept or dropped together, a multiple of 16 */
    block?: number;
    /** First tokens that are always kept */
    sink?: number;
    /** Last tokens that decide what is kept, and are kept */
    window?: number;
    /** Tokens from one decision to the next; 0: there is but one */
    refresh?: number;
};

/** Of an answer whose heads kept a share of their KV */
export type SparseReport = {
    retention?: number;
    /** Tokens whose KV fits into the pages that it held at most */
    kv_peak_tokens?: number;
    /** The same at its end */
    kv_tokens?: number;
};

/** Of an answer that a diffusion model wrote */
export type DiffusionReport = {
    /** Passes that changed the answer */
    steps?: number;
    tokens_per_step?: number;
    /** What is approximate */
    note?: string;
};

/** Of each route what it takes and what it gives. */
export interface Routes {
    /** Take documents in */
    'POST /ingest': {
        path: undefined;
        query: {
            /** The collection */
            collection?: string;
            /** false: answer 202 with a job_id */
            wait?: boolean;
            /** Of a raw document */
            id?: string;
            /** Of a raw document */
            title?: string;
            /** Of a raw document */
            uri?: string;
            /** Of a new collection */
            language?: string;
            /** Tokens of a chunk */
            max_tokens?: number;
            /** Tokens that chunks share */
            overlap?: number;
            /** Recognise letters in images by tesseract: auto on pages without text and in PNG, JPEG and TIFF, force on every page; default: as the service was started, off */
            ocr?: "off" | "auto" | "force";
            /** Of those letters, as tesseract calls it: eng, eng+deu */
            ocr_language?: string;
            /** Groups with commas between: who may see the documents of this call that have no acl of their own. Empty: nobody but keys of all groups */
            acl?: string;
            /** Milliseconds for the whole call: then 408. Of a job: for receiving it, and as much again for its work, which has failed then. What was committed before stays */
            timeout_ms?: number;
        };
        body: IngestRequest;
        reply: IngestReply | JobAccepted;
    };
    /** Answer a question with checked citations */
    'POST /query': {
        path: undefined;
        query: undefined;
        body: QueryRequest;
        reply: QueryReply;
    };
    /** The contexts of a question, without an answer */
    'POST /search': {
        path: undefined;
        query: undefined;
        body: SearchRequest;
        reply: SearchReply;
    };
    /** OpenAI: the next message of a conversation */
    'POST /v1/chat/completions': {
        path: undefined;
        query: undefined;
        body: {
            /** A name that GET /v1/models lists; any other is 404 with the names there are. --model-alias gives a model another name. forage/<collection> answers from its documents, with citations. Default: the loaded language model. */
            model?: string;
            max_tokens?: number;
            temperature?: number;
            top_p?: number;
            /** Draw from so many of the likeliest tokens; 0: from all */
            top_k?: number;
            min_p?: number;
            n?: number;
            stop?: string | Array<string>;
            seed?: number;
            /** Guess ahead from the prompt; the text is the same without. */
            lookup?: boolean;
            diffusion?: Diffusion;
            sparse?: Sparse;
            presence_penalty?: number;
            frequency_penalty?: number;
            repetition_penalty?: number;
            /** Then it ends: 408, or an error in the stream. Default: of an answer from documents 60000, else as long as it takes */
            timeout_ms?: number;
            /** Higher is sooner */
            priority?: number;
            /** As POST /query has it; chunk for answers from documents alone */
            kv_reuse?: "exact" | "chunk" | "off";
            /** Not for answers from documents in sentences: with response_format, or a tool_choice that demands a call */
            logit_bias?: Record<string, unknown>;
            stream?: boolean;
            stream_options?: {
                include_usage?: boolean;
                include_obfuscation?: false;
            };
            /** Not together with tools. Of answers from documents it needs a language model of the service. */
            response_format?: {
                type?: "text" | "json_object" | "json_schema";
                json_schema?: {
                    name?: string;
                    description?: string;
                    strict?: boolean;
                    /** A JSON Schema that the answer is valid under; a keyword that is not supported is refused with its place. */
                    schema: unknown;
                };
            };
            messages: Array<ChatMessage>;
            max_completion_tokens?: number;
            /** Not for answers from documents in sentences: with response_format, or a tool_choice that demands a call */
            logprobs?: boolean;
            top_logprobs?: number;
            /** Functions that the model may ask to be called; of answers from documents it needs a language model of the service. */
            tools?: Array<{
                type?: "function";
                function: {
                    name: string;
                    description?: string;
                    strict?: boolean;
                    /** A JSON Schema of the arguments. */
                    parameters?: unknown;
                };
            }>;
            /** auto, none, required, or {"type":"function","function":{"name":...}}. */
            tool_choice?: unknown;
            parallel_tool_calls?: boolean;
            /** Tokens of the loaded model that end the answer. Not for answers from documents in sentences: with response_format, or a tool_choice that demands a call. */
            stop_token_ids?: Array<number>;
        };
        reply: Record<string, unknown>;
    };
    /** OpenAI: text that goes on */
    'POST /v1/completions': {
        path: undefined;
        query: undefined;
        body: {
            /** A name that GET /v1/models lists; any other is 404 with the names there are. --model-alias gives a model another name. Default: the loaded language model. */
            model?: string;
            max_tokens?: number;
            temperature?: number;
            top_p?: number;
            /** Draw from so many of the likeliest tokens; 0: from all */
            top_k?: number;
            min_p?: number;
            n?: number;
            stop?: string | Array<string>;
            seed?: number;
            /** Guess ahead from the prompt; the text is the same without. */
            lookup?: boolean;
            diffusion?: Diffusion;
            sparse?: Sparse;
            presence_penalty?: number;
            frequency_penalty?: number;
            repetition_penalty?: number;
            /** Then it ends: 408, or an error in the stream. Default: of an answer from documents 60000, else as long as it takes */
            timeout_ms?: number;
            /** Higher is sooner */
            priority?: number;
            /** As POST /query has it */
            kv_reuse?: "exact" | "off";
            logit_bias?: Record<string, unknown>;
            stream?: boolean;
            stream_options?: {
                include_usage?: boolean;
                include_obfuscation?: false;
            };
            /** A string, an array of tokens, or an array of them. */
            prompt: string | Array<number | string | Array<number>>;
            logprobs?: number;
            /** Puts the prompt before the text. Refused together with logprobs: the log probabilities of the prompt are not computed. */
            echo?: boolean;
            /** Tokens of the loaded model that end the answer. */
            stop_token_ids?: Array<number>;
        };
        reply: Record<string, unknown>;
    };
    /** OpenAI: a response, without anything being kept */
    'POST /v1/responses': {
        path: undefined;
        query: undefined;
        body: {
            /** A text, or an array of items: messages, function_call, function_call_output. */
            input: unknown;
            instructions?: string;
            max_output_tokens?: number;
            text?: {
                format?: {
                    type?: "text" | "json_object" | "json_schema";
                    name?: string;
                    /** A JSON Schema that the answer is valid under. */
                    schema?: unknown;
                    strict?: boolean;
                };
            };
            tools?: Array<{
                type?: "function";
                name: string;
                description?: string;
                strict?: boolean;
                /** A JSON Schema of the arguments. */
                parameters?: unknown;
            }>;
            /** A name that GET /v1/models lists; any other is 404 with the names there are. --model-alias gives a model another name. forage/<collection> answers from its documents, with citations. Default: the loaded language model. */
            model?: string;
            temperature?: number;
            top_p?: number;
            /** Draw from so many of the likeliest tokens; 0: from all */
            top_k?: number;
            min_p?: number;
            stop?: string | Array<string>;
            seed?: number;
            /** Guess ahead from the prompt; the text is the same without. */
            lookup?: boolean;
            diffusion?: Diffusion;
            sparse?: Sparse;
            presence_penalty?: number;
            frequency_penalty?: number;
            repetition_penalty?: number;
            /** Then it ends: 408, or an error in the stream. Default: of an answer from documents 60000, else as long as it takes */
            timeout_ms?: number;
            /** Higher is sooner */
            priority?: number;
            /** As POST /query has it; chunk for answers from documents alone */
            kv_reuse?: "exact" | "chunk" | "off";
            /** Not for answers from documents in sentences: with response_format, or a tool_choice that demands a call */
            logit_bias?: Record<string, unknown>;
            stream?: boolean;
            stream_options?: {
                include_obfuscation?: false;
            };
            /** auto, none, required, or {"type":"function","function":{"name":...}}. */
            tool_choice?: unknown;
            parallel_tool_calls?: boolean;
            /** Tokens of the loaded model that end the answer. Not for answers from documents in sentences: with response_format, or a tool_choice that demands a call. */
            stop_token_ids?: Array<number>;
        };
        reply: Record<string, unknown>;
    };
    /** OpenAI: vectors of texts */
    'POST /v1/embeddings': {
        path: undefined;
        query: undefined;
        body: {
            /** A name that GET /v1/models lists; any other is 404 with the names there are. --model-alias gives a model another name. Default: the embedder. */
            model?: string;
            /** Milliseconds for waiting and work: then 408. Default: none. */
            timeout_ms?: number;
            /** Texts. Arrays of token ids are taken only with --allow-token-ids, and must be of the embedder's vocabulary (/v1/tokenize) */
            input: string | Array<string | number | Array<number>>;
            encoding_format?: "float" | "base64";
            /** Must be the model's own. */
            dimensions?: number;
            input_type?: "passage" | "document" | "search_document" | "query" | "search_query";
            user?: string;
        };
        reply: Record<string, unknown>;
    };
    /** Order documents by a query */
    'POST /v1/rerank': {
        path: undefined;
        query: undefined;
        body: {
            /** A name that GET /v1/models lists; any other is 404 with the names there are. --model-alias gives a model another name. Default: the cross-encoder, or the embedder where none is loaded. */
            model?: string;
            query: string;
            documents: Array<string | Record<string, unknown>>;
            /** Milliseconds for waiting and work: then 408. Default: none. */
            timeout_ms?: number;
            top_n?: number;
            return_documents?: boolean;
        };
        reply: Record<string, unknown>;
    };
    /** The tokens of a text */
    'POST /v1/tokenize': {
        path: undefined;
        query: undefined;
        body: {
            /** A name that GET /v1/models lists; any other is 404 with the names there are. --model-alias gives a model another name. Default: the language model, or the embedder where none is loaded. */
            model?: string;
            text?: string;
            /** The same as text. */
            prompt?: string;
            add_special_tokens?: boolean;
            return_pieces?: boolean;
        };
        reply: Record<string, unknown>;
    };
    /** The Model Context Protocol */
    'POST /mcp': {
        path: undefined;
        query: undefined;
        body: {
            jsonrpc: "2.0";
            id?: string | number;
            method: string;
            params?: Record<string, unknown>;
        };
        reply: Record<string, unknown> | null;
    };
    /** The models that can be named */
    'GET /v1/models': {
        path: undefined;
        query: undefined;
        body: undefined;
        reply: Record<string, unknown>;
    };
    /** One model */
    'GET /v1/models/{model}': {
        path: {
            model: string;
        };
        query: undefined;
        body: undefined;
        reply: Record<string, unknown>;
    };
    /** Documents of a collection, by id */
    'GET /documents': {
        path: undefined;
        query: {
            /** The collection */
            collection?: string;
            /** Documents of a page */
            limit?: number;
            /** The last_id of the page before */
            after?: string;
            /** A condition on metadata as in a query, JSON */
            filter?: string;
            /** Only what came from this folder (/sources); without collection, of the one that it fills */
            source?: string;
            /** Only those that have this in their title, uri or id, whatever its case */
            q?: string;
            /** With - the largest comes first; any but id looks at all documents for each page */
            order?: "id" | "-id" | "title" | "-title" | "updated" | "-updated" | "size" | "-size";
            /** Milliseconds for looking: then 408 */
            timeout_ms?: number;
        };
        body: undefined;
        reply: {
            data?: Array<Document>;
            has_more?: boolean;
            last_id?: string | null;
        };
    };
    /** Delete all documents that a filter matches, or that came from a source */
    'DELETE /documents': {
        path: undefined;
        query: {
            /** The collection */
            collection?: string;
            /** A condition on metadata as in a query, JSON; needed unless source is there */
            filter?: string;
            /** Only what came from this folder (/sources); without collection, of the one that it fills */
            source?: string;
            /** Count and name, delete nothing */
            dry_run?: boolean;
            /** Only those that have this in their title, uri or id, whatever its case */
            q?: string;
            /** Milliseconds for the whole call: then 408, which says how many were deleted; they stay so */
            timeout_ms?: number;
        };
        body: undefined;
        reply: {
            collection?: string;
            dry_run?: boolean;
            matched?: number;
            deleted?: number;
            /** Of those that matched */
            chunks?: number;
            /** Replaced or deleted by others meanwhile: left alone */
            changed?: number;
            /** Damaged documents, which no filter can judge: left alone */
            unreadable?: number;
            epoch?: number;
            /** The first hundred */
            ids?: Array<string>;
        };
    };
    /** A page of a PDF as an image, 1.5 dots to a point: source.bbox times 1.5 is where the cited passage stands in it. 404 where the PDF is not kept (--keep-originals) */
    'GET /pages/{id}': {
        path: {
            /** The document's id, percent-encoded */
            id: string;
        };
        query: {
            /** The collection */
            collection?: string;
            /** The page, from 1: source.page */
            page?: number;
        };
        body: undefined;
        reply: Blob;
    };
    /** One document with its text */
    'GET /documents/{id}': {
        path: {
            /** The document's id, percent-encoded */
            id: string;
        };
        query: {
            /** The collection */
            collection?: string;
            /** false: without the text */
            text?: boolean;
        };
        body: undefined;
        reply: Document;
    };
    /** Delete a document */
    'DELETE /documents/{id}': {
        path: {
            /** The document's id, percent-encoded */
            id: string;
        };
        query: {
            /** The collection */
            collection?: string;
        };
        body: undefined;
        reply: {
            id?: string;
            deleted?: boolean;
            epoch?: number;
        };
    };
    /** All collections */
    'GET /collections': {
        path: undefined;
        query: undefined;
        body: undefined;
        reply: {
            data?: Array<Collection>;
        };
    };
    /** Make a collection */
    'PUT /collections/{name}': {
        path: {
            /** 1 to 64 of A-Z a-z 0-9 _ - . and not beginning with a dot */
            name: string;
        };
        query: undefined;
        body: {
            language?: string;
        } | undefined;
        reply: Collection;
    };
    /** Delete a collection and all its documents */
    'DELETE /collections/{name}': {
        path: {
            /** 1 to 64 of A-Z a-z 0-9 _ - . and not beginning with a dot */
            name: string;
        };
        query: {
            /** Milliseconds for the whole call: then 408, and all of it is still there */
            timeout_ms?: number;
        };
        body: undefined;
        reply: {
            name?: string;
            deleted?: boolean;
        };
    };
    /** Folders that documents are kept in step with */
    'GET /sources': {
        path: undefined;
        query: undefined;
        body: undefined;
        reply: {
            data?: Array<Source>;
        };
    };
    /** One source */
    'GET /sources/{name}': {
        path: {
            /** The source's name */
            name: string;
        };
        query: undefined;
        body: undefined;
        reply: Source;
    };
    /** Forget a source, and delete its documents */
    'DELETE /sources/{name}': {
        path: {
            /** The source's name */
            name: string;
        };
        query: {
            /** Count, change nothing */
            dry_run?: boolean;
            /** The documents stay */
            keep_documents?: boolean;
            /** Milliseconds for the whole call: then 408, which says how many documents were deleted; the source is still there */
            timeout_ms?: number;
        };
        body: undefined;
        reply: {
            name?: string;
            dry_run?: boolean;
            deleted?: boolean;
            /** That went, or would */
            documents?: number;
        };
    };
    /** Look at a source's folder now */
    'POST /sources/{name}/sync': {
        path: {
            /** The source's name */
            name: string;
        };
        query: {
            /** Say what would be done, change nothing */
            dry_run?: boolean;
            /** Remove nothing where more documents than this would go: a number, or a share such as 30% */
            max_deletes?: string;
            /** The source's folder has another path than in its last run */
            relocate?: boolean;
            /** Answer when the run is over */
            wait?: boolean;
            /** Milliseconds to wait: then 408, and the run that only this call asked for ends. What it committed before stays, and the next run goes on from there */
            timeout_ms?: number;
        };
        body: undefined;
        reply: Source | {
            name?: string;
            /** The first thousand */
            steps?: Array<{
                action?: "create" | "update" | "move" | "remove" | "withhold";
                file?: string;
                /** Of a move */
                from?: string;
            }>;
            report?: SyncReport;
        } | Source;
    };
    /** Where a job stands */
    'GET /jobs/{id}': {
        path: {
            /** job_… */
            id: string;
        };
        query: undefined;
        body: undefined;
        reply: Job;
    };
    /** Cancel a job */
    'DELETE /jobs/{id}': {
        path: {
            /** job_… */
            id: string;
        };
        query: undefined;
        body: undefined;
        reply: Job;
    };
    /** Is the process alive */
    'GET /health': {
        path: undefined;
        query: undefined;
        body: undefined;
        reply: {
            status?: string;
            version?: string;
        };
    };
    /** Would a question be answered */
    'GET /ready': {
        path: undefined;
        query: {
            /** Asks about this one alone (default: all) */
            collection?: string;
        };
        body: undefined;
        reply: {
            status?: string;
            version?: string;
        };
    };
    /** Sizes, load, models */
    'GET /stats': {
        path: undefined;
        query: undefined;
        body: undefined;
        reply: Record<string, unknown>;
    };
    /** Prometheus metrics */
    'GET /metrics': {
        path: undefined;
        query: undefined;
        body: undefined;
        reply: string;
    };
    /** What each cache layer did: totals and a time series */
    'GET /analytics/cache': {
        path: undefined;
        query: {
            /** How far back: 90s, 15m, 24h, 7d (default 1h) */
            window?: string;
            /** Whole minutes a point of the series */
            step?: string;
        };
        body: undefined;
        reply: Record<string, unknown>;
    };
    /** Questions asked most, slowest, or without an answer */
    'GET /analytics/queries': {
        path: undefined;
        query: {
            /** How far back (default 24h) */
            window?: string;
            /** Default hot */
            order?: "hot" | "slow" | "unanswered";
            /** 1 to 1000 (default 50) */
            limit?: number;
        };
        body: undefined;
        reply: Record<string, unknown>;
    };
    /** How long queries took, stage by stage: counts, means and quantiles over time */
    'GET /analytics/latency': {
        path: undefined;
        query: {
            /** How far back: 90s, 15m, 24h, 7d (default 1h) */
            window?: string;
            /** Whole minutes a point of the series */
            step?: string;
        };
        body: undefined;
        reply: Record<string, unknown>;
    };
    /** Memory of the process, of the last day at most: resident, caches, index, KV */
    'GET /analytics/memory': {
        path: undefined;
        query: {
            /** How far back: 90s, 15m, 24h, 7d (default 1h) */
            window?: string;
            /** Whole minutes a point of the series */
            step?: string;
        };
        body: undefined;
        reply: Record<string, unknown>;
    };
    /** The pages of the KV cache: counts, and one letter a page (f free, c cached, u used, s shared) */
    'GET /analytics/kv': {
        path: undefined;
        query: undefined;
        body: undefined;
        reply: Record<string, unknown>;
    };
    /** This description */
    'GET /openapi.json': {
        path: undefined;
        query: undefined;
        body: undefined;
        reply: Record<string, unknown>;
    };
    /** How much the service logs */
    'GET /admin/log-level': {
        path: undefined;
        query: undefined;
        body: undefined;
        reply: {
            level: "debug" | "info" | "warn" | "error" | "off";
        };
    };
    /** Log more or less, from now on */
    'POST /admin/log-level': {
        path: undefined;
        query: undefined;
        body: {
            level: "debug" | "info" | "warn" | "error" | "off";
        };
        reply: {
            level: "debug" | "info" | "warn" | "error" | "off";
        };
    };
    /** A backup of the home, while it is served, in home/backups */
    'POST /admin/snapshot': {
        path: undefined;
        query: {
            /** Milliseconds for making it: then 408, and nothing is left of it */
            timeout_ms?: number;
        };
        body: undefined;
        reply: {
            snapshot?: string;
            path?: string;
            bytes?: number;
            /** Older snapshots that went */
            removed?: Array<string>;
        };
    };
    /** The web page */
    'GET /': {
        path: undefined;
        query: undefined;
        body: undefined;
        reply: string;
    };
    /** What the web page loads */
    'GET /assets/{name}': {
        path: {
            /** app.js or style.css */
            name: string;
        };
        query: undefined;
        body: undefined;
        reply: string | Blob;
    };
    /** Conversations that are kept */
    'GET /conversations': {
        path: undefined;
        query: {
            /** Only those that have this in their title, a question or an answer, whatever its case */
            q?: string;
            /** How many */
            limit?: number;
            /** last_id of the page before */
            after?: string;
            /** Milliseconds for looking: then 408 */
            timeout_ms?: number;
        };
        body: undefined;
        reply: {
            data?: Array<ConversationSummary>;
            has_more?: boolean;
            last_id?: string | null;
        };
    };
    /** Begin a conversation */
    'POST /conversations': {
        path: undefined;
        query: {
            /** Milliseconds for the whole call: then 408 */
            timeout_ms?: number;
        };
        body: {
            /** Not of blanks alone; of a copy that of the other */
            title?: string;
            collection?: string;
            /** The id of a conversation, one's own or a shared one, all turns of which the new one begins with: it is made with all of them or not at all. 404 where who asks may not read it. Without collection: it is of the other's */
            copy_of?: string;
        };
        reply: Conversation;
    };
    /** A conversation with its turns */
    'GET /conversations/{id}': {
        path: {
            /** The conversation's id */
            id: string;
        };
        query: {
            /** Milliseconds for reading it: then 408 */
            timeout_ms?: number;
        };
        body: undefined;
        reply: Conversation;
    };
    /** Rename a conversation, share it, or share it no longer */
    'PATCH /conversations/{id}': {
        path: {
            /** The conversation's id */
            id: string;
        };
        query: {
            /** Milliseconds for the whole call: then 408 */
            timeout_ms?: number;
        };
        body: {
            /** Not blank */
            title?: string;
            shared?: boolean;
        };
        reply: Conversation;
    };
    /** Delete a conversation */
    'DELETE /conversations/{id}': {
        path: {
            /** The conversation's id */
            id: string;
        };
        query: {
            /** Milliseconds for the whole call: then 408 */
            timeout_ms?: number;
        };
        body: undefined;
        reply: {
            id?: string;
            deleted?: boolean;
        };
    };
    /** Keep a question and its answer */
    'PUT /conversations/{id}/turns/{turn}': {
        path: {
            /** The conversation's id */
            id: string;
            /** Its number, from 0 */
            turn: number;
        };
        query: {
            /** How many turns the client knows of: where there are others, nothing is written */
            turns?: number;
            /** Milliseconds for the whole call: then 408 */
            timeout_ms?: number;
        };
        body: {
            question: string;
            answer?: string;
            collection?: string;
            /** What belongs to the answer: the reply of POST /query or a part of it, its citations above all. It is kept as it is. */
            reply?: Record<string, unknown>;
        };
        reply: Conversation;
    };
    /** Say whether an answer was good */
    'POST /feedback': {
        path: undefined;
        query: undefined;
        body: {
            query: string;
            collection?: string;
            /** none takes it back */
            rating: "up" | "down" | "none";
            /** Ids that the answer cites */
            documents?: Array<string>;
            comment?: string;
        };
        reply: {
            rating?: string;
        };
    };
    /** What people said of answers */
    'GET /analytics/feedback': {
        path: undefined;
        query: {
            /** From how long ago on: a number and s, m, h or d */
            window?: string;
            /** Of this one alone */
            collection?: string;
            /** How many */
            limit?: number;
            /** JSON, or a file of forage eval */
            format?: "json" | "queries" | "qrels";
        };
        body: undefined;
        reply: {
            up?: number;
            down?: number;
            data?: Array<{
                query?: string;
                collection?: string;
                rating?: "up" | "down";
                documents?: Array<string>;
                comment?: string | null;
                /** Name of the key */
                by?: string;
                at?: string;
            }>;
        };
    };
    /** Who asks, and what that allows */
    'GET /session': {
        path: undefined;
        query: undefined;
        body: undefined;
        reply: {
            /** Does everybody need a key? */
            keys?: boolean;
            /** Its id */
            key?: string | null;
            name?: string;
            tenant?: string;
            /** A server that only reads */
            read_only?: boolean;
            /** By scope; operate: what concerns the whole process */
            may?: {
                read?: boolean;
                ingest?: boolean;
                admin?: boolean;
                metrics?: boolean;
                operate?: boolean;
            };
            version?: string;
            /** Of one document (--max-document-bytes) */
            max_document_bytes?: number;
        };
    };
    /** The keys of the home, without their secrets */
    'GET /keys': {
        path: undefined;
        query: undefined;
        body: undefined;
        reply: {
            data?: Array<Key>;
        };
    };
    /** Make a key */
    'POST /keys': {
        path: undefined;
        query: undefined;
        body: {
            name: string;
            scopes: Array<"read" | "ingest" | "admin" | "metrics">;
            tenant?: string;
            /** None: all */
            collections?: Array<string>;
            groups?: Array<string>;
            tier?: string;
            /** Absent: it never expires */
            expires_days?: number;
        };
        reply: {
            id?: string;
            /** What to send as Authorization: Bearer */
            key?: string;
        };
    };
    /** Revoke a key */
    'DELETE /keys/{id}': {
        path: {
            /** The key's id */
            id: string;
        };
        query: undefined;
        body: undefined;
        reply: {
            id?: string;
            revoked?: boolean;
        };
    };
    /** First questions that this collection answers */
    'GET /suggestions': {
        path: undefined;
        query: {
            /** The collection */
            collection?: string;
            /** How many */
            limit?: number;
        };
        body: undefined;
        reply: {
            data?: Array<{
                query?: string;
                support?: number;
            }>;
        };
    };
}
