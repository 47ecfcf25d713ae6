#!/usr/bin/env -S node --max-semi-space-size=64
// 64 MiB of young generation for each thread. The objects of a call live for one commit. With V8's
// default of 16 MiB, the garbage collector copies many of them before they die. The server did a
// fifth more mints with 32 MiB, and another 14 % more with 64 MiB (docs/performance.md).
import { CommanderError } from "commander";

import { StoreError } from "../ledger/ports/store.js";
import { isDamage, RESTORE } from "../startup/damage.js";
import { failureFacts } from "../startup/failure-facts.js";
import { Problem } from "../startup/operator-error.js";
import { endQuietlyWhenNobodyReads } from "./commands/output.js";
import { kescProgram } from "./program.js";

const FAILED = 1;
const WRONG_USAGE = 2;

endQuietlyWhenNobodyReads();
try {
  await kescProgram().parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
  // The listener for "disconnect" would keep this process alive.
  if (process.connected) process.disconnect();
}

/** Prints the error, unless Commander has printed it. Returns the exit code. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
  const debugging = process.env["KESC_LOG_LEVEL"] === "debug" || process.env["KESC_LOG_LEVEL"] === "trace";
  if (error instanceof Problem) {
    process.stderr.write(`${error.message}\n`);
  } else {
    process.stderr.write(`${describeFailure(error)}\n`);
  }
  if (debugging && error instanceof Error) process.stderr.write(`${error.stack ?? ""}\n`);
  return error instanceof Problem ? error.exitCode : FAILED;
}

function describeFailure(error: unknown): string {
  const { code, message } = failureFacts(error);
  const reason = message ?? code ?? "it gave no reason";
  if (isDamage(error)) return `The database file cannot be read: ${reason}. ${RESTORE}`;
  // Errors of drivers and of the system have a code. An error without a code is a bug.
  return error instanceof StoreError || code !== undefined
    ? `The database failed: ${reason}. Repair it, then run the command again.`
    : `Internal error: ${reason}. Set KESC_LOG_LEVEL=debug to see where it occurred.`;
}
