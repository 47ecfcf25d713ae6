#!/usr/bin/env -S node --max-semi-space-size=64
// The option is for the server: see young-generation.ts.
import { CommanderError } from "commander";

import { StoreError } from "../ledger/ports/store.js";
import { failureFacts } from "../startup/failure-facts.js";
import { isDamage, RESTORE } from "../startup/open-database.js";
import { OperatorError } from "../startup/operator-error.js";
import { endQuietlyWhenNobodyReads } from "./commands/output.js";
import { kescProgram } from "./program.js";

const FAILED = 1;
const WRONG_USAGE = 2;

endQuietlyWhenNobodyReads();
try {
  await kescProgram().parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
  // Listening to whoever started this process would keep it alive.
  if (process.connected) process.disconnect();
}

/** Says what went wrong, where nobody has said it yet. */
function exitCodeOf(error: unknown): number {
  // Commander has printed its own.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
  const debugging = process.env["KESC_LOG_LEVEL"] === "debug" || process.env["KESC_LOG_LEVEL"] === "trace";
  if (error instanceof OperatorError) {
    process.stderr.write(`${error.message}\n`);
  } else {
    process.stderr.write(`${wordsOn(error)}\n`);
  }
  if (debugging && error instanceof Error) process.stderr.write(`${error.stack ?? ""}\n`);
  return error instanceof OperatorError ? error.exitCode : FAILED;
}

function wordsOn(error: unknown): string {
  const { code, message } = failureFacts(error);
  const words = message ?? code ?? "it does not say how";
  if (isDamage(error)) return `The database's file can't be read: ${words}. ${RESTORE}`;
  // Drivers and the system give a code to what they report; a bug has none.
  return error instanceof StoreError || code !== undefined
    ? `The database failed: ${words}. See to it, then run this again.`
    : `A bug in kesc: ${words}. KESC_LOG_LEVEL=debug shows where.`;
}
