import assert from "node:assert/strict";
import { test } from "node:test";
import { Memorata } from "../dist/index.js";
import { startServer } from "./server.mjs";

const sdk = await import("ai").catch(() => null);

test("the AI SDK remembers in one call and is asked in another", { skip: sdk === null && "npm install ai" }, async () => {
  const { scriptedModel, withMemory } = await import("../examples/vercel-ai.mjs");
  const server = await startServer();
  try {
    const memory = new Memorata({ url: server.url });
    const ask = async (session, prompt) => {
      const model = sdk.wrapLanguageModel({ model: scriptedModel(), middleware: withMemory(memory, { session }) });
      return (await sdk.generateText({ model, prompt })).text;
    };
    assert.equal(await ask("first", "Anna prefers green tea in the morning."), "I do not know that yet.");
    assert.match(await ask("second", "Which tea does Anna prefer?"), /^I remember: .*green tea/);
    const said = (await memory.list()).memories.map(({ content }) => content);
    assert.ok(!said.some((content) => content.includes("memorata-recall")));
  } finally {
    await server.stop();
  }
  const unreachable = new Memorata({ url: "http://127.0.0.1:9" });
  const model = sdk.wrapLanguageModel({ model: scriptedModel(), middleware: withMemory(unreachable) });
  assert.equal((await sdk.generateText({ model, prompt: "Is anybody there?" })).text, "I do not know that yet.");
});
