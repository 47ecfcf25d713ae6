import type { RailReceipt } from "./payment.js";
import type { Authorized } from "./second-person.js";
import type { Cents } from "./values/cents.js";
import type { AccountId } from "./values/ids.js";
import type { IdempotencyKey, StatusReason } from "./values/text.js";

/** Moves money between the accounts of the organization's book. */
export type CorrectBook = Authorized & {
  readonly amountCents: Cents;
  readonly idempotencyKey: IdempotencyKey;
  readonly note: StatusReason;
} & (
    | { readonly name: "coverShortfall" }
    | { readonly name: "recoverShortfall" | "allocate"; readonly accountId: AccountId }
    | { readonly name: "returnUnallocated" | "bookReceipt"; readonly receipt: RailReceipt }
    /** Without an account that pays for it, nobody does: a shortfall. */
    | { readonly name: "bookPayment"; readonly receipt: RailReceipt; readonly accountId: AccountId | undefined }
    /** The book has a movement with another amount than the rail. */
    | {
        readonly name: "adjustMovement";
        /** The receipt of the movement, or the id of its transaction if the book has no receipt. */
        readonly movement: string;
        /** Whether more came in than the book has, or more went out. */
        readonly direction: "in" | "out";
        readonly accountId: AccountId | undefined;
      }
    /** To or from another place. Or put in for charges, or taken out of what was paid ahead. */
    | {
        readonly name: "explainTransfer" | "fundCharges";
        readonly receipt: RailReceipt;
        readonly direction: "in" | "out";
      }
  );
