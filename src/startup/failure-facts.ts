import { StoreError } from "../ledger/ports/store.js";

/** What may be said in public about a failure of the database. */
export interface FailureFacts {
  /** The driver's: an SQLSTATE, SQLITE_…, or a code of the system such as ECONNREFUSED. */
  readonly code: string | undefined;
  /** The constraint that refused. */
  readonly constraint: string | undefined;
  /** The driver's words, unless they may hold a value of the statement. */
  readonly message: string | undefined;
}

// PostgreSQL's class 22, data exception: 'invalid input syntax for type bigint: "+254712345678"'.
// In all other classes the message names tables, columns and constraints; the values stand in
// `detail`, which is never looked at.
const QUOTES_VALUES = /^22...$/;

/** Takes out of an error what can carry no phone number, e-mail address or password. */
export function failureFacts(error: unknown): FailureFacts {
  const cause = firstReason(error instanceof StoreError ? error.cause : error);
  const [code, constraint, message] = ["code", "constraint", "message"].map((name) => textAt(cause, name));
  const quotesValues = code !== undefined && QUOTES_VALUES.test(code);
  return { code, constraint, message: message === undefined || quotesValues ? undefined : driverWords(message) };
}

// By its fields, not its class: an error that comes from another thread has lost it.
function textAt(thrown: unknown, name: string): string | undefined {
  const value: unknown = typeof thrown === "object" && thrown !== null ? Reflect.get(thrown, name) : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A host name with several addresses fails once for each; Node wraps that without any words. */
function firstReason(error: unknown): unknown {
  return error instanceof AggregateError && error.message === "" ? (error.errors[0] as unknown) : error;
}

/** Knex puts the statement in front: "SELECT … - no such table: accounts". */
function driverWords(message: string): string {
  const separator = message.lastIndexOf(" - ");
  return separator === -1 ? message : message.slice(separator + 3);
}
