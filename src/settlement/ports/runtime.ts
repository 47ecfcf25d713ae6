import type { LoopTiming } from "../../../runtime/wait.js";
import type { PaymentCommand, RailCommand, ResourceOf } from "../../domain/operations.js";
import type { RailAccountId } from "../../domain/payment.js";
import type { RefusedCredential } from "../../domain/rail-account.js";
import type { WatchRailAccount } from "../../domain/rails/change-rail-accounts.js";
import type { DepositId, TransactionId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Outcome } from "../../ledger/ports/outcome.js";

/** The settlement's clocks and waits. The crash simulation implements them, too. */
export interface SettlementTiming extends LoopTiming {
  readonly now: () => UnixMillis;
}

/** Submits a command to the ledger, in the line of the settlement. */
export type Submit<Of extends RailCommand = PaymentCommand> = <C extends Of>(
  command: C,
  deadline: UnixMillis,
) => Promise<Outcome<ResourceOf<C>>>;

/** Submits what was seen of an account at a rail. */
export type SubmitWatch = Submit<WatchRailAccount>;

/** The right to work, which one server of a cell has at a time. */
export interface HeldLease {
  /** For how long this server has it. Not positive if it does not. */
  leftMillis(): number;
}

/** Something to count or to log. None of it holds a phone number. */
export type SettlementEvent =
  /** A rail answered to a request. */
  | {
      readonly kind: "sent";
      readonly transactionId: TransactionId;
      readonly railAccountId: RailAccountId;
      readonly result: "accepted" | "rejected" | "unreached" | "unknown";
      readonly code: string | undefined;
    }
  /** A payment may not begin yet. */
  | { readonly kind: "blocked"; readonly transactionId: TransactionId; readonly code: string }
  /** A person must look at the transaction, because nobody knows its outcome. */
  | { readonly kind: "outcome unknown"; readonly transactionId: TransactionId }
  /** A message was dropped: it stays as evidence. */
  | {
      readonly kind: "message dropped";
      readonly transactionId: TransactionId;
      readonly why: "no payment" | "unreadable" | "open" | "another order" | "contradicted" | "unconfirmed";
    }
  | { readonly kind: "no rail account"; readonly railAccountId: RailAccountId }
  | { readonly kind: "no balance"; readonly railAccountId: RailAccountId; readonly code: string }
  /** The rail has refused a credential. Nobody uses it until a person sets the account again. */
  | {
      readonly kind: "credentials refused";
      readonly railAccountId: RailAccountId;
      readonly credential: RefusedCredential;
      readonly code: string;
    }
  /** The rail refuses a request whatever it is about: the service or the account must change. */
  | {
      readonly kind: "request refused";
      readonly railAccountId: RailAccountId;
      readonly request: string;
      readonly code: string;
    }
  /** The rail refuses every payout. They stay closed until an operator opens them. */
  | { readonly kind: "payouts closed"; readonly railAccountId: RailAccountId; readonly code: string }
  /** New payouts do not begin, because of the unknown outcomes of these, which are flagged now. */
  | {
      readonly kind: "payouts stopped";
      readonly railAccountId: RailAccountId;
      readonly unknown: number;
      readonly transactionIds: readonly TransactionId[];
    }
  /** The ledger did not decide a command. */
  | { readonly kind: "undecided"; readonly transactionId: TransactionId; readonly code: string }
  /** The list of a rail account had payments that the book lacked. */
  | {
      readonly kind: "payments found";
      readonly railAccountId: RailAccountId;
      readonly booked: number;
      /** How many payments may belong to an order, and wait. */
      readonly heldBack: number;
      /** How many payments the ledger did not book. */
      readonly undecided: number;
    }
  /** The list of a rail account could not be read. It is read again. */
  | { readonly kind: "no list"; readonly railAccountId: RailAccountId; readonly code: string }
  /** The list of a rail account has rows that nobody has booked, and that credit nobody. */
  | {
      readonly kind: "rows not credited";
      readonly railAccountId: RailAccountId;
      readonly unreadable: number;
      /** How many rows may be older than the registration: the zone of their clock is in doubt. */
      readonly unclear: number;
      /** The rail's words for rows that may be no payments. */
      readonly unknownKinds: readonly string[];
      /** Of the first rows. A row may have none. */
      readonly receipts: readonly string[];
    }
  /** It has new rows of kinds that are known for what is nobody's payment. */
  | {
      readonly kind: "other rows";
      readonly railAccountId: RailAccountId;
      readonly kinds: readonly string[];
      readonly receipts: readonly string[];
    }
  /** Confirmations came, and the list stays empty: it may never have been set up at the rail. */
  | { readonly kind: "empty list"; readonly railAccountId: RailAccountId }
  /** The ledger did not book a payment of a list. It is tried again. */
  | {
      readonly kind: "payment not booked";
      readonly railAccountId: RailAccountId;
      readonly receipt: string;
      readonly code: string;
    }
  /** A rail answered to the request to return a deposit. */
  | {
      readonly kind: "return sent";
      readonly depositId: DepositId;
      readonly result: "accepted" | "rejected" | "unreached" | "unknown";
      readonly code: string | undefined;
    }
  /** A person must look at the return of a deposit: the rail does not say what became of it. */
  | { readonly kind: "return unclear"; readonly depositId: DepositId; readonly code: string }
  | { readonly kind: "error"; readonly error: unknown };

export type OnEvent = (event: SettlementEvent) => void;
