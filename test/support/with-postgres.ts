/**
 * Runs a command with a throwaway PostgreSQL server, whose URL is in POSTGRES_URL. Ends with the
 * command's exit code.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

import { PostgresNode } from "./postgres-node.js";

const [program = "", ...args] = process.argv.slice(2);
// On the disk that holds the checkout: in a folder in memory a commit would look cheap.
mkdirSync("bench/out", { recursive: true });
const folder = mkdtempSync(join(resolve("bench/out"), "postgres-"));
// Under root PostgreSQL runs as another user, who needs access to its data.
chmodSync(folder, 0o711);
const node = await PostgresNode.create(folder);
try {
  await node.start();
  const url = `postgres://kesc@127.0.0.1:${String(node.port)}/postgres`;
  const child = spawn(program, args, { stdio: "inherit", env: { ...process.env, POSTGRES_URL: url } });
  const [code] = (await once(child, "exit")) as [number | null];
  process.exitCode = code ?? 1;
} finally {
  await node.end("SIGINT");
  rmSync(folder, { recursive: true, force: true });
}
