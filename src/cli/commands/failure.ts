import { getSystemErrorMessage, getSystemErrorName } from "node:util";

import { StoreError } from "../../ledger/ports/store.js";
import { failureFacts, firstReason, reasonOf } from "../../startup/failure-facts.js";
import { invocation } from "../../startup/invocation.js";
import { adviceOnRights, isDamage, RESTORE } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { RefusedWriteError } from "../../storage/sql/store-error.js";

/** Prints the error of a command. Returns the exit code. */
export function reportFailure(error: unknown): number {
  const { env, stderr, failedExitCode } = invocation();
  const debugging = env["KESC_LOG_LEVEL"] === "debug" || env["KESC_LOG_LEVEL"] === "trace";
  stderr.write(`${error instanceof OperatorError ? error.message : describeFailure(error)}\n`);
  if (debugging && error instanceof Error) stderr.write(`${error.stack ?? ""}\n`);
  return error instanceof OperatorError && error.exitCode !== 1 ? error.exitCode : failedExitCode;
}

function describeFailure(error: unknown): string {
  if (error instanceof RefusedWriteError) return error.message;
  const { code } = failureFacts(error);
  const reason = reasonOf(error);
  if (isDamage(error)) return `The database file cannot be read: ${reason}. ${RESTORE}`;
  const aboutRights = adviceOnRights(error);
  if (aboutRights !== undefined) return `The database refused: ${reason}. ${aboutRights}`;
  const bySystem = error instanceof StoreError ? undefined : refusedBySystem(error);
  if (bySystem !== undefined) return `${bySystem}. Repair it, then run the command again.`;
  if (code?.startsWith("SQLITE_BUSY") === true) {
    return `The database is in use: ${reason}. Another program was writing. Run the command again.`;
  }
  // A driver's code is an SQLSTATE or SQLITE_…. Any other error is a bug.
  return error instanceof StoreError || /^(SQLITE_\w+|[0-9A-Z]{5})$/.test(code ?? "")
    ? `The database failed: ${reason}. Repair it, then run the command again.`
    : `Internal error: ${reason}. Set KESC_LOG_LEVEL=debug to see where it occurred.`;
}

/** Says which file, address or connection the system refused. Undefined: it is another error. */
function refusedBySystem(error: unknown): string | undefined {
  const { syscall, errno, path, address, port, hostname } = (firstReason(error) ?? {}) as SystemError;
  if (syscall === undefined || errno === undefined) return undefined;
  const reason = getSystemErrorMessage(errno);
  const place = port === undefined || port < 0 ? (address ?? path) : `${address ?? ""}:${String(port)}`;
  if (syscall === "listen" || syscall === "bind") return `The address ${place ?? ""} cannot be used: ${reason}`;
  if (syscall === "connect") return `${place ?? "The address"} cannot be reached: ${reason}`;
  if (hostname !== undefined) return `The host ${hostname} cannot be found: ${reason}`;
  if (path !== undefined) return `The file or folder ${path} cannot be used: ${reason}`;
  const isConnection = /^(EPIPE|ECONN|ETIMEDOUT|ENOTCONN)/.test(getSystemErrorName(errno));
  return `${isConnection ? "A connection was lost" : `The system refused to ${syscall}`}: ${reason}`;
}

interface SystemError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}
