#!/usr/bin/env -S node --max-semi-space-size=64
// The option is for the server: see young-generation.ts.
import { CommanderError } from "commander";

import { StoreError } from "../ledger/ports/store.js";
import { failureFacts } from "../startup/failure-facts.js";
import { adviceOnRights, isDamage, RESTORE } from "../startup/open-database.js";
import { OperatorError } from "../startup/operator-error.js";
import { BookMovingError } from "../storage/organizations/own-rows.js";
import { endWhenOutputFails } from "./commands/output.js";
import { kescProgram } from "./program.js";

const FAILED = 1;
const WRONG_USAGE = 2;

endWhenOutputFails();
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
  if (error instanceof OperatorError) {
    process.stderr.write(`${error.message}\n`);
  } else {
    process.stderr.write(`${describeFailure(error)}\n`);
  }
  if (debugging && error instanceof Error) process.stderr.write(`${error.stack ?? ""}\n`);
  return error instanceof OperatorError ? error.exitCode : FAILED;
}

function describeFailure(error: unknown): string {
  if (error instanceof StoreError && error.cause instanceof BookMovingError) return error.cause.message;
  const { code, message } = failureFacts(error);
  const reason = message ?? code ?? "it gave no reason";
  if (isDamage(error)) return `The database file cannot be read: ${reason}. ${RESTORE}`;
  const aboutRights = adviceOnRights(error);
  if (aboutRights !== undefined) return `The database refused: ${reason}. ${aboutRights}`;
  // Errors of drivers and of the system have a code. An error without a code is a bug.
  return error instanceof StoreError || code !== undefined
    ? `The database failed: ${reason}. Repair it, then run the command again.`
    : `Internal error: ${reason}. Set KESC_LOG_LEVEL=debug to see where it occurred.`;
}
