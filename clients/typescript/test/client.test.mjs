import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Memorata, MemorataError } from "../dist/index.js";
import { startServer } from "./server.mjs";

let server;
let memory;

before(async () => {
  server = await startServer();
  memory = new Memorata({ url: server.url, namespace: "acme/anna" });
});
after(() => server.stop());

test("what is remembered is recalled, read, listed, changed and corrected", async () => {
  const tea = await memory.remember("Anna prefers green tea.", { id: "tea", tags: ["drinks"] });
  assert.equal(tea.namespace, "acme/anna");
  await memory.rememberMany([{ content: "Bob moved to Lisbon." }, { content: "Coffee gives Bob headaches." }]);
  const found = await memory.recall("which tea does Anna prefer?", { limit: 2, filter: { tags: "drinks" } });
  assert.equal(found.hits[0]?.memory.id, "tea");
  assert.equal((await memory.get("tea")).content, "Anna prefers green tea.");
  const first = await memory.list({ limit: 1, oldest_first: true });
  assert.equal(first.memories[0]?.id, "tea");
  const rest = await memory.list({ oldest_first: true, cursor: first.cursor, filter: { content: { contains: "Bob" } } });
  assert.equal(rest.memories.length, 2);
  assert.equal((await memory.update("tea", { importance: 0.9 })).importance, 0.9);
  const black = await memory.correct("tea", "Anna prefers black tea.");
  assert.deepEqual((await memory.history(black.id)).memories.map(({ id }) => id), ["tea", black.id]);
});

test("what is forgotten is restored, and what is purged is gone", async () => {
  await memory.remember("It rains.", { id: "rain", category: "weather" });
  assert.deepEqual((await memory.forget({ filter: { category: "weather" }, dry_run: true })).would_forget, ["rain"]);
  assert.equal((await memory.forget({ filter: { category: "weather" } })).done, 1);
  assert.equal((await memory.restore(["rain"])).done, 1);
  assert.equal((await memory.purge({ ids: ["rain"] })).done, 1);
  await assert.rejects(memory.get("rain"), (error) => {
    assert.ok(error instanceof MemorataError);
    assert.deepEqual([error.status, error.type], [404, "memorata:not-found"]);
    return true;
  });
});

test("under a key the latest stands alone, and a write with a name is done once", async () => {
  await memory.put("anna/drink", "Anna drinks tea.");
  const latest = await memory.put("anna/drink", "Anna drinks cocoa.");
  assert.equal((await memory.call("GET /v1/memories/keyed", { query: { key: "anna/drink" } })).id, latest.id);
  const [one, other] = [
    await memory.remember("Anna is allergic to nuts.", { idempotencyKey: "7f3a" }),
    await memory.remember("Anna is allergic to nuts.", { idempotencyKey: "7f3a" }),
  ];
  assert.deepEqual(one, other);
});

test("every operation can be called, in any namespace", async () => {
  await memory.remember("From now on, answer in German.", { namespace: "other" });
  assert.equal((await memory.briefing({ namespace: "other" })).items[0]?.section, "instruction");
  await memory.call("POST /v1/relations", { body: { subject: "Anna", type: "works_at", object: "Acme" } });
  const { relations } = await memory.call("GET /v1/relations", { query: { entity: "Anna" } });
  assert.equal(relations.length, 1);
  const lines = await memory.call("GET /v1/export");
  const copied = await memory.call("POST /v1/import", { query: { namespace: "copy" }, body: lines });
  assert.ok(copied.imported > 0);
  assert.equal((await memory.call("GET /v1/health")).status, "ok");
  const { namespaces } = await memory.call("GET /v1/namespaces");
  assert.ok(namespaces.some(({ namespace }) => namespace === "copy"));
});

test("what is wrong is told: by the server, by a time-out, by a signal", async () => {
  await assert.rejects(memory.recall("x", { limit: -1 }), (error) => {
    assert.deepEqual([error.status, error.type, error.errors.length], [422, "memorata:invalid", 1]);
    return true;
  });
  const slow = new Memorata({ url: server.url, timeout: 1, fetch: (url, options) => new Promise((_, reject) => options.signal.addEventListener("abort", () => reject(options.signal.reason))) });
  await assert.rejects(slow.recall("x"), { name: "TimeoutError" });
  await assert.rejects(memory.call("GET /v1/ready", { signal: AbortSignal.abort() }), { name: "AbortError" });
});

test("a key goes along", async () => {
  const seen = [];
  const keyed = new Memorata({
    url: "http://x/",
    key: "mem_k",
    fetch: async (url, options) => {
      seen.push([String(url), options.headers.Authorization]);
      return new Response("{}", { headers: { "content-type": "application/json" } });
    },
  });
  await keyed.get("a b/c");
  assert.deepEqual(seen, [["http://x/v1/memories/a%20b%2Fc", "Bearer mem_k"]]);
});
