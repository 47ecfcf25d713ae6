import { CommanderError } from "commander";

import { StoreError } from "../ledger/ports/store.js";
import { failureFacts } from "../startup/failure-facts.js";
import { invocation, runWithin, type Surroundings } from "../startup/invocation.js";
import { adviceOnRights, isDamage, RESTORE } from "../startup/open-database.js";
import { OperatorError } from "../startup/operator-error.js";
import { BookMovingError } from "../storage/organizations/own-rows.js";
import { endWhenOutputFails } from "./commands/output.js";
import { kescProgram } from "./program.js";

const FAILED = 1;
const WRONG_USAGE = 2;

/**
 * Runs a command. Returns its exit code: 0 success, 1 failure, 2 wrong usage or configuration. Some
 * commands go on afterwards: the gateway does.
 *
 * Without `surroundings` it is the command of this process, and a lost output ends the process.
 * With them, nothing of it stays in the process; but `serve`, `server` and `gateway` need one.
 */
export async function runKesc(args: readonly string[], surroundings?: Surroundings): Promise<number> {
  if (surroundings !== undefined) return runWithin(surroundings, () => run(args));
  endWhenOutputFails();
  return run(args);
}

async function run(args: readonly string[]): Promise<number> {
  try {
    await kescProgram().parseAsync(args, { from: "user" });
    return invocation().exitCode;
  } catch (error) {
    return exitCodeOf(error);
  }
}

/** Prints the error, unless Commander has printed it. Returns the exit code. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
  const { env, stderr } = invocation();
  const debugging = env["KESC_LOG_LEVEL"] === "debug" || env["KESC_LOG_LEVEL"] === "trace";
  if (error instanceof OperatorError) {
    stderr.write(`${error.message}\n`);
  } else {
    stderr.write(`${describeFailure(error)}\n`);
  }
  if (debugging && error instanceof Error) stderr.write(`${error.stack ?? ""}\n`);
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
