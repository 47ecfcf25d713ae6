import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const RUNTIME = new URL("../../runtime/", import.meta.url);

/** A small program of a test, which runs in a process of its own. */
export interface Program {
  readonly process: ChildProcess;
  /** Resolves with how it ended, and with what it printed. */
  readonly ended: Promise<{ readonly exit: number | NodeJS.Signals; readonly stdout: string; readonly stderr: string }>;
}

/**
 * A module that imports `names` from a module of runtime/, such as "log.js", and runs `body`. It is
 * a file for as long as `use` takes.
 */
export async function withProgramFile<Result>(
  imports: Readonly<Record<string, readonly string[]>>,
  body: string,
  use: (file: URL) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "kesc-program-"));
  const lines = Object.entries(imports).map(
    ([file, names]) => `import { ${names.join(", ")} } from "${new URL(file, RUNTIME).href}";`,
  );
  const file = join(folder, "program.mjs");
  writeFileSync(file, [...lines, body].join("\n"));
  try {
    return await use(new URL(`file://${file}`));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts the program as a child that can be sent messages. */
export function startProgram(file: URL): Program {
  const child = fork(file, { silent: true, execArgv: [] });
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = Promise.all([
    once(child, "exit") as Promise<[number | null, NodeJS.Signals | null]>,
    ...[child.stdout, child.stderr].map((stream) => stream && once(stream, "close")),
  ]).then(([[code, signal]]) => ({ exit: (code ?? signal) as number | NodeJS.Signals, stdout, stderr }));
  return { process: child, ended };
}
