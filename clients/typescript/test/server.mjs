// A real server, in a folder of its own, for the time of a test file.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const COMMAND = (process.env.MEMORATA_COMMAND ?? "memorata").split(" ");

export async function startServer(...options) {
  const folder = await mkdtemp(join(tmpdir(), "memorata-"));
  const [program, ...words] = COMMAND;
  const file = join(folder, "memories.db");
  const child = spawn(program, [...words, "--db", file, "--embedder", "lexical", "server", "start", "--port", "0", "--no-pages", ...options], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, HOME: folder },
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  let log = "";
  for await (const line of createInterface({ input: child.stderr })) {
    log += `${line}\n`;
    const found = /Serving at (\S+)/.exec(line);
    if (found) {
      child.stderr.resume();
      const stop = async () => {
        child.kill("SIGTERM");
        await ended;
        await rm(folder, { recursive: true });
      };
      return { url: found[1], stop };
    }
  }
  throw new Error(`the server did not start:\n${log}`);
}
