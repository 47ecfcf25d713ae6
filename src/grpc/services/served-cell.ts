import type { Organization } from "../../domain/api-key.js";
import type { HeldReason } from "../../domain/rail-account.js";
import type { DepositId } from "../../domain/values/ids.js";
import type { Follower } from "../../events/follower.js";
import type { EventReads } from "../../events/ports.js";
import type { Ledger } from "../../ledger/ledger.js";
import type { Reads } from "../../ledger/ports/reads.js";
import type { RailMessage, RailReport } from "../../rails/rail.js";
import type { SealReads } from "../../seals/ports.js";
import type { RailInbox } from "../../settlement/ports/inbox.js";
import type { Payments, StoredPayment } from "../../settlement/ports/payments.js";
import type { DefaultRails, NamesAtRails, RailAccounts } from "../../settlement/ports/rail-accounts.js";
import type { HistoryReads } from "../../statements/ports.js";
import type { WebhookEndpoints } from "../../webhooks/ports/endpoints.js";
import type { TestEvents } from "../../webhooks/test-events.js";

/** One cell, as the services use it. */
export interface ServedCell extends CellRails {
  readonly ledger: Pick<Ledger, "submit">;
  readonly reads: Reads;
  readonly history: HistoryReads;
  readonly eventReads: EventReads;
  readonly follower: Follower;
  readonly seals: SealReads;
  readonly webhooks: CellWebhooks;
}

/** The webhooks of one cell, as the services use them. */
export interface CellWebhooks {
  readonly endpoints: WebhookEndpoints;
  readonly tests: Pick<TestEvents, "send">;
}

/** The rails of one cell, as the services use them. */
export interface CellRails {
  readonly payments: Pick<Payments, "payment" | "advance" | "endQuestion">;
  readonly inbox: Pick<RailInbox, "add" | "messages" | "addAboutReturn">;
  readonly railAccounts: RailAccounts & DefaultRails;
  /** Asks rails what they call the numbers of new destinations. */
  readonly railNames?: NamesAtRails;
  /** Says why a payout does not begin. Undefined if it may, and once the rail may have it. */
  readonly heldReason: (payment: StoredPayment, isFrozen: boolean) => Promise<HeldReason | undefined>;
  /** Says in words what the last code of a payment means. Undefined for a code of the service. */
  readonly meaningOf: (payment: StoredPayment) => string | undefined;
  /** Reads what a message says about a payment. Undefined if it says nothing about it. */
  readonly reportIn: (payment: StoredPayment, message: RailMessage) => RailReport | undefined;
  /** Lets the settlement look at once for what is due. */
  readonly wake: () => void;
  /**
   * Takes a message that answers a question for a balance. The UUID is that of the question.
   */
  readonly noteBalance?: (question: string, message: RailMessage) => void;
  readonly depositMessages?: DepositMessages;
}

/** Takes what rails send by themselves. The UUID is that of the account at the rail. */
export interface DepositMessages {
  /** A payment without an order came in, says somebody. Never waits, and never throws. */
  confirmed(accountUuid: string): void;
  /**
   * Answers whether the rail may take a payment. Undefined if it may for all that the service can
   * say: then every rail understands the usual answer. Never rejects.
   */
  answer(accountUuid: string, body: string): Promise<string | undefined>;
  /** A message about the return of a deposit is stored: the settlement looks at it soon. */
  returnReported(id: DepositId): Promise<void>;
}

/** Returns the cell that holds the book of the organization. */
export type CellOf = (organization: Pick<Organization, "cell">) => ServedCell;
