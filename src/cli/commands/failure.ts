import { StoreError } from "../../ledger/ports/store.js";
import { failureFacts } from "../../startup/failure-facts.js";
import { invocation } from "../../startup/invocation.js";
import { adviceOnRights, isDamage, RESTORE } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { RefusedWriteError } from "../../storage/sql/store-error.js";

/** Prints the error of a command. Returns the exit code. */
export function reportFailure(error: unknown): number {
  const { env, stderr, failedExitCode } = invocation();
  const debugging = env["KESC_LOG_LEVEL"] === "debug" || env["KESC_LOG_LEVEL"] === "trace";
  if (error instanceof OperatorError) {
    stderr.write(`${error.message}\n`);
  } else {
    stderr.write(`${describeFailure(error)}\n`);
  }
  if (debugging && error instanceof Error) stderr.write(`${error.stack ?? ""}\n`);
  return error instanceof OperatorError && error.exitCode !== 1 ? error.exitCode : failedExitCode;
}

function describeFailure(error: unknown): string {
  if (error instanceof RefusedWriteError) return error.message;
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
