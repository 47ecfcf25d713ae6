/** A process of test/run.ts: runs the files that it is given, one after the other. */
import { readFileSync } from "node:fs";
import { format } from "node:util";

import Mocha from "mocha";

import { takeDownAll } from "./support/at-the-end.js";
import { cpuSeconds } from "./support/budget.js";

/** What came of one file. */
export interface FileResult {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly pending: number;
  readonly cpuSeconds: number;
  /** What mocha's reporter printed. */
  readonly output: string;
  /** The process died, and another must take over. */
  readonly died?: boolean;
}

// Not as an option of the process: its threads would have it, too, and each SQLite file opens one.
process.setSourceMapsEnabled(true);
const options = JSON.parse(readFileSync(".mocharc.json", "utf8")) as Mocha.MochaOptions;
let lines: string[] = [];
Mocha.reporters.Base.consoleLog = (...words: unknown[]) => {
  lines.push(format(...words));
};

process.on("message", (message: { readonly file?: string; readonly end?: true }) => {
  if (message.file === undefined) void takeDownAll().then(leave, leave);
  else void run(message.file);
});
// Without its parent nobody would tell it to end.
process.on("disconnect", () => process.exit(1));

async function run(file: string): Promise<void> {
  lines = [];
  const cpuBefore = cpuSeconds();
  const mocha = new Mocha({ ...options, reporter: "spec", color: false });
  mocha.addFile(file);
  let passed = 0;
  let pending = 0;
  let failed = 0;
  try {
    await mocha.loadFilesAsync();
    failed = await new Promise<number>((resolve) => {
      const runner = mocha.run(resolve);
      runner.on("pass", () => (passed += 1)).on("pending", () => (pending += 1));
    });
  } catch (error) {
    failed = 1;
    lines.push(format(error));
  }
  mocha.dispose();
  const cpu = cpuSeconds() - cpuBefore;
  process.send?.({ file, passed, failed, pending, cpuSeconds: cpu, output: lines.join("\n") } satisfies FileResult);
}

function leave(error: unknown): void {
  if (error !== undefined) process.stderr.write(`${format(error)}\n`);
  process.exit(error === undefined ? 0 : 1);
}
