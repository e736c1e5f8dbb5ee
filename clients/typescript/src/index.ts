/**
 * A client of a Memorata server (`memorata server start`): the everyday verbs by their names, and every other
 * operation, with its types, by `call`.
 */
import type { Operations } from "./schema.js";
import type {
  BriefingAnswer,
  DoneAnswer,
  ForgetAnswer,
  MemoriesAnswer,
  MemoryAnswer,
  MemoryPageAnswer,
  PurgeAnswer,
  RecallAnswer,
  RememberedAnswer,
} from "./schema.js";

export type * from "./schema.js";

type Body<Name extends keyof Operations> = Operations[Name]["body"];
type Details<Name extends keyof Operations> = Omit<Body<Name>, "content">;

export interface MemorataOptions {
  /** The address of the server; http://127.0.0.1:8765 if left out. */
  url?: string;
  /** A key of the server, where it needs one. */
  key?: string;
  /** Whose memories, for calls that do not say; the server's own if left out. */
  namespace?: string;
  /** After how many milliseconds a call is given up; 30,000 if left out. */
  timeout?: number;
  /** What sends requests; the platform's `fetch` if left out. */
  fetch?: typeof fetch;
}

export interface CallOptions<Name extends keyof Operations> {
  path?: Operations[Name]["path"];
  query?: Operations[Name]["query"];
  body?: Body<Name>;
  /** A name of your own for a write: sent twice under it, it is done once. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

export interface WriteOptions {
  namespace?: string;
  idempotencyKey?: string;
}

/** What the server refused, or could not do: its `type` is for programs, its message says what to do. */
export class MemorataError extends Error {
  override readonly name = "MemorataError";

  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
    readonly errors: ReadonlyArray<unknown> = [],
  ) {
    super(message);
  }
}

export class Memorata {
  readonly #url: string;
  readonly #key: string | undefined;
  readonly #namespace: string | undefined;
  readonly #timeout: number;
  readonly #fetch: typeof fetch;

  constructor(options: MemorataOptions = {}) {
    this.#url = (options.url ?? "http://127.0.0.1:8765").replace(/\/+$/, "");
    this.#key = options.key;
    this.#namespace = options.namespace;
    this.#timeout = options.timeout ?? 30_000;
    this.#fetch = options.fetch ?? fetch;
  }

  /** Call an operation by its method and path, with what its address, query and body take. */
  async call<Name extends keyof Operations>(
    operation: Name,
    options: CallOptions<Name> = {},
  ): Promise<Operations[Name]["answer"]> {
    const [method = "", template = ""] = operation.split(" ");
    const values = (options.path ?? {}) as Record<string, unknown>;
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
    const query = new URLSearchParams();
    const namespace = takesNamespace(template) ? { namespace: this.#namespace } : {};
    for (const [name, value] of Object.entries({ ...namespace, ...options.query })) {
      for (const each of Array.isArray(value) ? value : [value]) {
        if (each !== undefined && each !== null) query.append(name, String(each));
      }
    }
    const text = typeof options.body === "string";
    const headers: Record<string, string> = {};
    if (this.#key !== undefined) headers["Authorization"] = `Bearer ${this.#key}`;
    if (options.idempotencyKey !== undefined) headers["Idempotency-Key"] = options.idempotencyKey;
    if (options.body !== undefined) headers["Content-Type"] = text ? "application/x-ndjson" : "application/json";
    const timeout = AbortSignal.timeout(this.#timeout);
    const response = await this.#fetch(`${this.#url}${path}${query.size ? `?${query}` : ""}`, {
      method,
      headers,
      signal: options.signal === undefined ? timeout : either(options.signal, timeout),
      ...(options.body === undefined ? {} : { body: text ? (options.body as string) : JSON.stringify(options.body) }),
    });
    const answer = await response.text();
    if (!response.ok) throw failure(response.status, answer);
    const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
    return (isJson ? JSON.parse(answer) : answer) as Operations[Name]["answer"];
  }

  /** Remember one thing, verbatim; when it resolves, it is on the disk. */
  remember(content: string, details: Details<"POST /v1/memories"> & WriteOptions = {}): Promise<MemoryAnswer> {
    const { namespace, idempotencyKey, ...fields } = details;
    return this.call("POST /v1/memories", { ...write(namespace, idempotencyKey), body: { content, ...fields } });
  }

  /** Remember several things, all or none; one whose id is known is left as it is. */
  rememberMany(
    items: Body<"POST /v1/memories/batch">["items"],
    options: WriteOptions = {},
  ): Promise<RememberedAnswer> {
    return this.call("POST /v1/memories/batch", {
      ...write(options.namespace, options.idempotencyKey),
      body: { items },
    });
  }

  /** Find the right few memories for a query. */
  recall(
    query: string,
    options: Omit<Body<"POST /v1/recall">, "query"> & { namespace?: string } = {},
  ): Promise<RecallAnswer> {
    const { namespace, ...rest } = options;
    return this.call("POST /v1/recall", { ...write(namespace), body: { query, ...rest } });
  }

  /** Tell what to know before anything is asked, within a budget of tokens. */
  briefing(query: Operations["GET /v1/briefing"]["query"] = {}): Promise<BriefingAnswer> {
    return this.call("GET /v1/briefing", { query });
  }

  /** Return one memory by its id, a hidden one too. */
  get(id: string, options: { namespace?: string } = {}): Promise<MemoryAnswer> {
    return this.call("GET /v1/memories/{id}", { ...write(options.namespace), path: { id } });
  }

  /** Return a page of memories, the newest first; `cursor` of the answer leads to the next. */
  list(
    query: Omit<Operations["GET /v1/memories"]["query"], "filter"> & { filter?: Record<string, unknown> } = {},
  ): Promise<MemoryPageAnswer> {
    const { filter, ...rest } = query;
    return this.call("GET /v1/memories", {
      query: { ...rest, ...(filter === undefined ? {} : { filter: JSON.stringify(filter) }) },
    });
  }

  /** Remember under a key of your own; what stood there before is in its history. */
  put(
    key: string,
    content: string,
    details: Details<"PUT /v1/memories/keyed"> & WriteOptions = {},
  ): Promise<MemoryAnswer> {
    const { namespace, idempotencyKey, ...fields } = details;
    const { query, ...rest } = write(namespace, idempotencyKey);
    return this.call("PUT /v1/memories/keyed", { ...rest, query: { key, ...query }, body: { content, ...fields } });
  }

  /** Change what is known about a memory, never its content. */
  update(
    id: string,
    fields: Body<"PATCH /v1/memories/{id}">,
    options: WriteOptions = {},
  ): Promise<MemoryAnswer> {
    return this.call("PATCH /v1/memories/{id}", {
      ...write(options.namespace, options.idempotencyKey),
      path: { id },
      body: fields,
    });
  }

  /** Say something new in place of a memory. */
  correct(
    id: string,
    content: string,
    details: Details<"POST /v1/memories/{id}/correct"> & WriteOptions = {},
  ): Promise<MemoryAnswer> {
    const { namespace, idempotencyKey, ...fields } = details;
    return this.call("POST /v1/memories/{id}/correct", {
      ...write(namespace, idempotencyKey),
      path: { id },
      body: { content, ...fields },
    });
  }

  /** Return the chain that a memory is part of: what was replaced before what replaced it. */
  history(id: string, options: { namespace?: string } = {}): Promise<MemoriesAnswer> {
    return this.call("GET /v1/memories/{id}/history", { ...write(options.namespace), path: { id } });
  }

  /** Hide memories, by ids or by a filter; `restore` brings them back. */
  forget(body: Body<"POST /v1/memories/forget">, options: WriteOptions = {}): Promise<ForgetAnswer> {
    return this.call("POST /v1/memories/forget", { ...write(options.namespace, options.idempotencyKey), body });
  }

  /** Show forgotten memories again. */
  restore(ids: string[], options: WriteOptions = {}): Promise<DoneAnswer> {
    const how = write(options.namespace, options.idempotencyKey);
    return this.call("POST /v1/memories/restore", { ...how, body: { ids } });
  }

  /** Remove memories for good, by ids or by a filter; needs a key with the scope `admin`, where keys are. */
  purge(body: Body<"POST /v1/memories/purge">, options: WriteOptions = {}): Promise<PurgeAnswer> {
    return this.call("POST /v1/memories/purge", { ...write(options.namespace, options.idempotencyKey), body });
  }
}

function write(namespace?: string, idempotencyKey?: string) {
  return {
    query: namespace === undefined ? {} : { namespace },
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  };
}

function takesNamespace(template: string): boolean {
  const exempt = ["/v1/health", "/v1/ready", "/v1/metrics", "/v1/settings", "/v1/jobs/check", "/v1/jobs/reembed"];
  return !exempt.includes(template) && template !== "/v1/namespaces" && !template.startsWith("/v1/jobs/{");
}

/** Return a signal that aborts when one of two does; `AbortSignal.any` is not in Node 18. */
function either(one: AbortSignal, other: AbortSignal): AbortSignal {
  const controller = new AbortController();
  for (const signal of [one, other]) {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
  }
  return controller.signal;
}

function failure(status: number, answer: string): MemorataError {
  try {
    const problem = JSON.parse(answer) as { type?: string; detail?: string; title?: string; errors?: unknown[] };
    return new MemorataError(status, problem.type ?? "", problem.detail ?? problem.title ?? answer, problem.errors ?? []);
  } catch {
    return new MemorataError(status, "", answer);
  }
}
