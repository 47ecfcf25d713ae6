import type { DepositId, TransactionId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { CallbackPurpose } from "../../rails/callback-token.js";

/** A message of a rail that is stored, and that the settlement has not yet applied. */
export interface InboxMessage {
  readonly id: number;
  readonly transactionId: TransactionId;
  readonly purpose: CallbackPurpose;
  /** The text, masked by `maskMessage`. */
  readonly body: string;
  readonly receivedAt: UnixMillis;
  readonly tries: number;
}

/** A message as evidence. */
export interface StoredMessage {
  readonly purpose: CallbackPurpose;
  readonly body: string;
  readonly receivedAt: UnixMillis;
}

/** The messages that rails have sent to one cell. They are evidence, and are never deleted here. */
export interface RailInbox {
  /**
   * Stores a message, to be applied at `now`. That may be in the future: a sandbox knows its
   * messages before. Resolves once it is on disk. A text that is stored already for the transaction
   * is not stored again; nor is one beyond 50 texts for one transaction. The results of our own
   * queries do not count as such: there is room for 1,000 of them.
   */
  add(
    message: Omit<InboxMessage, "id" | "tries" | "receivedAt">,
    now: UnixMillis,
  ): Promise<"stored" | "known" | "full">;
  /** The messages that are due, those that wait longest first. */
  due(given: { readonly now: UnixMillis; readonly limit: number }): Promise<readonly InboxMessage[]>;
  postpone(id: number, next: { readonly dueAt: UnixMillis; readonly tries: number }): Promise<void>;
  /** The message has been applied, or says nothing. It stays as evidence. */
  settle(id: number): Promise<void>;
  /**
   * The stored messages about one transaction, applied or not, oldest first. Of the results of our
   * own queries that have been applied, only the last.
   */
  messages(transactionId: TransactionId): Promise<readonly StoredMessage[]>;
  /**
   * Stores what came about the return of a deposit. The settlement looks at it with the deposit, so
   * it is never due by itself. The same limits hold.
   */
  addAboutReturn(id: DepositId, body: string, now: UnixMillis): Promise<"stored" | "known" | "full">;
  /** The texts that are stored about the return of a deposit, oldest first. */
  aboutReturn(id: DepositId): Promise<readonly string[]>;
}
