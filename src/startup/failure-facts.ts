import type { Logger } from "pino";

import { StoreError } from "../ledger/ports/store.js";

/** The facts of a database error that are safe to log and to print. */
export interface FailureFacts {
  /**
   * The code of the driver or of the system: an SQLSTATE, SQLITE_…, or for example ECONNREFUSED.
   */
  readonly code: string | undefined;
  /** The name of the violated constraint. */
  readonly constraint: string | undefined;
  /** The message of the driver. Undefined if it may contain a value of the statement. */
  readonly message: string | undefined;
}

// Class 22 of PostgreSQL is data exception: 'invalid input syntax for type bigint:
// "+254712345678"'. In all other classes the message only names tables, columns and constraints.
// The values are in `detail`, which the code never reads.
const QUOTES_VALUES = /^22...$/;

/** Extracts the parts of an error that contain no phone number, e-mail address or password. */
export function failureFacts(error: unknown): FailureFacts {
  const cause = firstReason(error instanceof StoreError ? error.cause : error);
  const [code, constraint, message] = ["code", "constraint", "message"].map((name) => textAt(cause, name));
  const quotesValues = code !== undefined && QUOTES_VALUES.test(code);
  return { code, constraint, message: message === undefined || quotesValues ? undefined : driverWords(message) };
}

/** Returns the reason of an error in words that are safe to print. */
export function reasonOf(error: unknown): string {
  const { code, message } = failureFacts(error);
  return message ?? code ?? "no reason was given";
}

/** Returns what logs the errors of a cell with these words. */
export function failureLog(logger: Logger, cell: number, words: string): (error: unknown) => void {
  return (error) => {
    logger.error({ cell, ...failureFacts(error) }, words);
  };
}

// Looks at fields, not at the class: an error from another thread has lost its class.
function textAt(thrown: unknown, name: string): string | undefined {
  const value: unknown = typeof thrown === "object" && thrown !== null ? Reflect.get(thrown, name) : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * A host name with several addresses gives one error for each. Node wraps them into an error
 * without a message.
 */
export function firstReason(error: unknown): unknown {
  return error instanceof AggregateError && error.message === "" ? (error.errors[0] as unknown) : error;
}

/** Cuts off the statement that Knex puts in front: "SELECT … - no such table: accounts". */
function driverWords(message: string): string {
  const separator = message.lastIndexOf(" - ");
  return separator === -1 ? message : message.slice(separator + 3);
}
