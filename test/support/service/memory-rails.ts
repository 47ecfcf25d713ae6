import type { RailAccountId } from "../../../src/domain/payment.js";
import type { HeldReason } from "../../../src/domain/rail-account.js";
import { DIRECT_RAIL, type Rail } from "../../../src/domain/transaction.js";
import type { Cents } from "../../../src/domain/values/cents.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { DepositId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import type { CellRails } from "../../../src/grpc/services/served-cell.js";
import type { Capabilities, PaymentRail, RailMessage, RailReport } from "../../../src/rails/rail.js";
import type { InboxMessage, StoredMessage } from "../../../src/settlement/ports/inbox.js";
import type { StoredPayment } from "../../../src/settlement/ports/payments.js";
import type { RailAccount } from "../../../src/settlement/ports/rail-accounts.js";
import { NOW } from "../names.js";

export const SANDBOX = "sandbox" as Rail;
export const SANDBOX_ACCOUNT_ID = "rac_sandbox" as RailAccountId;

/** Whole shillings from 10.00 to 250,000.00, of Kenyan phones. */
export const CAPABILITIES: Capabilities = {
  minCents: toCents(1_000),
  maxCents: toCents(25_000_000),
  stepCents: toCents(100),
  phoneNumbers: /^\+254/,
};

/** A rail account of the organization, of which only the services' part works. */
export function railAccount(organizationId: OrganizationId, changes: Partial<RailAccount> = {}): RailAccount {
  return {
    id: SANDBOX_ACCOUNT_ID,
    organizationId,
    rail: { name: SANDBOX, capabilities: () => CAPABILITIES } as unknown as PaymentRail,
    payouts: "auto",
    beginWithinMillis: 120_000,
    confirmAboveCents: 0,
    resolveAloneMaxCents: 100_000 as Cents,
    revision: 1,
    changedAt: NOW,
    refused: undefined,
    isUntried: false,
    ...changes,
  };
}

/** The rails of a cell in memory. A test sets what there is, and looks at what was done. */
export class MemoryRails implements CellRails {
  readonly accounts: RailAccount[] = [];
  readonly default = new Map<OrganizationId, Rail>();
  readonly stored = new Map<TransactionId, StoredPayment>();
  readonly added: { readonly message: Omit<InboxMessage, "id" | "tries" | "receivedAt">; readonly now: UnixMillis }[] =
    [];
  readonly evidence: StoredMessage[] = [];
  readonly aboutReturns: { readonly id: DepositId; readonly body: string }[] = [];
  readonly returnsReported: DepositId[] = [];
  readonly advanced: TransactionId[] = [];
  readonly balances: { readonly accountUuid: string; readonly message: RailMessage }[] = [];
  wakes = 0;
  #held = Promise.resolve();
  /** What the inbox answers, in place of storing the message. */
  refuseMessage: (() => Promise<"full">) | undefined;

  /** The questions about the status of a payment that stand. */
  readonly questions = new Map<string, TransactionId>();

  readonly payments: CellRails["payments"] = {
    endQuestion: (question) => {
      const id = this.questions.get(question);
      this.questions.delete(question);
      return Promise.resolve(id);
    },
    payment: (id) => Promise.resolve(this.stored.get(id)),
    advance: (id) => {
      this.advanced.push(id);
      return Promise.resolve(this.stored.get(id)?.state !== "ENDED");
    },
  };

  readonly inbox: CellRails["inbox"] = {
    add: (message, now) => {
      if (this.refuseMessage !== undefined) return this.refuseMessage();
      this.added.push({ message, now });
      return Promise.resolve("stored");
    },
    messages: () => this.#held.then(() => this.evidence),
    addAboutReturn: (id, body) => {
      if (this.refuseMessage !== undefined) return this.refuseMessage();
      this.aboutReturns.push({ id, body });
      return Promise.resolve(this.aboutReturns.length > 1 ? "known" : "stored");
    },
  };

  readonly railAccounts: CellRails["railAccounts"] = {
    account: (id) => this.accounts.find((account) => account.id === id),
    accountOf: (organizationId, rail) =>
      this.accounts.find((account) => account.organizationId === organizationId && account.rail.name === rail),
    accountsOf: (organizationId) => this.accounts.filter((account) => account.organizationId === organizationId),
    defaultRail: (organizationId) => this.default.get(organizationId) ?? DIRECT_RAIL,
  };

  /** Why payouts wait. */
  held: HeldReason | undefined;
  readonly heldReason: CellRails["heldReason"] = () => Promise.resolve(this.held);

  readonly meaningOf: CellRails["meaningOf"] = ({ lastCode }) =>
    lastCode?.includes(" ") === true ? `the meaning of ${lastCode}` : undefined;

  /** What every message says. */
  report: RailReport | undefined;
  readonly reportIn: CellRails["reportIn"] = () => this.report;

  /** Lets nobody read messages until the returned function is called. */
  holdMessages(): () => void {
    let release = (): void => undefined;
    this.#held = new Promise((resolve) => {
      release = resolve;
    });
    return () => {
      release();
    };
  }

  readonly wake = (): void => {
    this.wakes += 1;
  };

  readonly confirmed: string[] = [];
  readonly asked: { readonly accountUuid: string; readonly body: string }[] = [];
  /** What the service answers to the rail's question. */
  answer: string | undefined;

  readonly depositMessages: NonNullable<CellRails["depositMessages"]> = {
    confirmed: (accountUuid) => {
      this.confirmed.push(accountUuid);
    },
    answer: (accountUuid, body) => {
      this.asked.push({ accountUuid, body });
      return Promise.resolve(this.answer);
    },
    returnReported: (id) => {
      this.returnsReported.push(id);
      return Promise.resolve();
    },
  };

  readonly noteBalance = (accountUuid: string, message: RailMessage): void => {
    this.balances.push({ accountUuid, message });
  };
}

/** A payment that the rail has, and that nobody knows the outcome of. */
export function storedPayment(
  transaction: Pick<StoredPayment, "transactionId" | "organizationId">,
  changes: Partial<StoredPayment> = {},
): StoredPayment {
  return {
    ...transaction,
    railAccountId: SANDBOX_ACCOUNT_ID,
    direction: "MINT",
    amountCents: toCents(100_000),
    status: "PROCESSING",
    isFlagged: true,
    acceptedAt: toUnixMillis(Date.UTC(2026, 0, 2)),
    state: "ACCEPTED",
    numberKind: "PHONE",
    number: "+254708374149" as StoredPayment["number"],
    maskedNumber: "254******149" as StoredPayment["maskedNumber"],
    railReference: "ws_CO_1" as StoredPayment["railReference"],
    begunAt: toUnixMillis(Date.UTC(2026, 0, 2, 0, 0, 1)),
    sends: 1,
    turnedAway: 0,
    dueAt: toUnixMillis(Date.UTC(2026, 0, 2, 1)),
    checks: 3,
    advances: 0,
    lastCode: "4999",
    ...changes,
  };
}
