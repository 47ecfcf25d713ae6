import type { status as Status } from "@grpc/grpc-js";

import type { Scope } from "../../domain/api-key.js";
import type { Refusal } from "../../domain/refusal.js";
import type { Rail } from "../../domain/transaction.js";
import { formatCents } from "../../domain/values/cents.js";
import type { TransactionId } from "../../domain/values/ids.js";
import type { LedgerRefusal } from "../../ledger/ports/outcome.js";
import type { OperatorRefusal } from "../../operators/refusal.js";
import type { FieldProblem } from "../messages/fields.js";

/** A refusal by the gRPC server itself. The ledger did not see the call. */
export type CallRefusal =
  | { readonly reason: "MISSING_API_KEY" }
  | { readonly reason: "INVALID_API_KEY" }
  | { readonly reason: "SCOPE_REQUIRED"; readonly scope: Scope }
  /** The key calls faster than it may. */
  | {
      readonly reason: "RATE_LIMITED";
      readonly rate: "calls" | "lists";
      readonly callsPerSecond: number;
      readonly retryMillis: number;
    }
  | { readonly reason: "INVALID_FIELD"; readonly fields: readonly FieldProblem[] }
  | { readonly reason: "MALFORMED_REQUEST"; readonly problem: string }
  | { readonly reason: "UNSUPPORTED_COMPRESSION" }
  | { readonly reason: "NO_SUCH_RPC" }
  | { readonly reason: "REQUEST_TOO_LARGE"; readonly bytesMax: number }
  | { readonly reason: "TOO_MANY_STREAMS"; readonly streamsMax: number }
  | { readonly reason: "OUTCOME_UNKNOWN" }
  | { readonly reason: "RAIL_NOT_SANDBOX"; readonly transactionId: TransactionId; readonly rail: Rail }
  /** The book has no checkpoint of this size. Undefined: it has none. */
  | { readonly reason: "CHECKPOINT_NOT_FOUND"; readonly size: number | undefined }
  /** The checkpoint does not cover the row yet. */
  | { readonly reason: "NOT_SEALED"; readonly sealedSize: number }
  | { readonly reason: "INTERNAL"; readonly requestId: string };

/** Every refusal that the program of an organization can get. */
export type AnyRefusal = Refusal | LedgerRefusal | CallRefusal;
/** The same, and those that operators get. */
export type ServedRefusal = AnyRefusal | OperatorRefusal;
export type Reason = AnyRefusal["reason"];

/** What a caller gets for a refusal. */
export interface Answer<Of> {
  readonly status: Status;
  /** The text for people. */
  readonly message: (refusal: Of) => string;
  /**
   * The same for programs: the contract's ErrorReason and AdminErrorReason define the names. A fact
   * that is undefined is left out. None when omitted.
   */
  readonly facts?: (refusal: Of) => Readonly<Record<string, string | undefined>>;
  /** When the same call can succeed. It is not told when omitted. */
  readonly retryMillis?: number | ((refusal: Of) => number);
}

/** The answers for the refusals of a union. It does not compile without one for each reason. */
export type Answers<Of extends { readonly reason: string }> = {
  readonly [Each in Of["reason"]]: Answer<Extract<Of, { readonly reason: Each }>>;
};

/**
 * One second is enough for a full queue to drain and for another server to take over. It is too
 * short to look like an outage.
 */
export const SOON_MILLIS = 1_000;

/** Joins words as a list of a sentence: "amount, description and metadata". */
export function listOf(words: readonly string[]): string {
  return [...words.slice(0, -2), words.slice(-2).join(" and ")].join(", ");
}

/** Formats an amount that may be unknown. */
export function orNoCents(cents: number | undefined): string | undefined {
  return cents === undefined ? undefined : formatCents(cents);
}

/** Formats a time that may be unknown. */
export function orNoTime(millis: number | undefined): string | undefined {
  return millis === undefined ? undefined : new Date(millis).toISOString();
}
