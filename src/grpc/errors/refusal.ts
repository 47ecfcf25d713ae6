import type { Scope } from "../../domain/api-key.js";
import type { Refusal } from "../../domain/refusal.js";
import type { LedgerRefusal } from "../../ledger/ports/outcome.js";
import type { FieldProblem } from "../messages/fields.js";

/** A refusal by the gRPC server itself. The ledger did not see the call. */
export type CallRefusal =
  | { readonly reason: "MISSING_API_KEY" }
  | { readonly reason: "INVALID_API_KEY" }
  | { readonly reason: "SCOPE_REQUIRED"; readonly scope: Scope }
  | { readonly reason: "INVALID_FIELD"; readonly fields: readonly FieldProblem[] }
  | { readonly reason: "MALFORMED_REQUEST"; readonly problem: string }
  | { readonly reason: "UNSUPPORTED_COMPRESSION" }
  | { readonly reason: "NO_SUCH_RPC" }
  | { readonly reason: "REQUEST_TOO_LARGE"; readonly bytesMax: number }
  | { readonly reason: "TOO_MANY_STREAMS"; readonly streamsMax: number }
  | { readonly reason: "OUTCOME_UNKNOWN" }
  | { readonly reason: "INTERNAL"; readonly requestId: string };

/** Every refusal that a caller can get. */
export type AnyRefusal = Refusal | LedgerRefusal | CallRefusal;
export type Reason = AnyRefusal["reason"];
