import { expect } from "chai";

import type { JournalKind } from "../../src/domain/journal.js";
import type { TierName } from "../../src/domain/limits/limits.js";
import type { RailReceipt } from "../../src/domain/payment.js";
import type { Actor } from "../../src/domain/values/actor.js";
import type { Cents } from "../../src/domain/values/cents.js";
import type { ApiKeyId, DepositId, FreezeId, TransactionId, WebhookEndpointId } from "../../src/domain/values/ids.js";
import type { StatusReason } from "../../src/domain/values/text.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import {
  type AccountFacts,
  type EndRow,
  eventOf,
  type EventRow,
  type StepRow,
  type TransactionFacts,
} from "../../src/events/event.js";
import { givenDeposit } from "../support/given.js";
import { ACCOUNT_ID, ORGANIZATION, transaction, TRANSACTION_ID } from "../support/service/grpc-server.js";

const REASON = "the words of the row" as StatusReason;
const RECEIPT = "QK1" as RailReceipt;
const LATER = "txn_01jd2r6p5vf8ksw3xhb1z7q4yf" as TransactionId;

function row(kind: JournalKind, given: Partial<EventRow> = {}): EventRow {
  return {
    organizationId: ORGANIZATION,
    sequence: 9,
    kind,
    accountId: ACCOUNT_ID,
    posting: undefined,
    balancesAfter: { availableCents: 700 as Cents, heldCents: 20 as Cents },
    detail: undefined,
    receipt: undefined,
    actor: "key_1" as Actor,
    reason: REASON,
    recordedAt: toUnixMillis(9_000),
    contentHash: "0123456789abcdef",
    ...given,
  };
}

const step = (sequence: number, kind: JournalKind, given: Partial<StepRow> = {}): StepRow => ({
  sequence,
  kind,
  detail: undefined,
  receipt: undefined,
  ...given,
});

/** The row that ended the transaction earlier. */
const ended = (kind: JournalKind, given: Partial<EndRow> = {}): EndRow => ({
  ...step(7, kind),
  reason: "why it ended" as StatusReason,
  availableAfterCents: 500 as Cents,
  recordedAt: toUnixMillis(7_000),
  ...given,
});

function transactionAt(of: EventRow, given: Partial<TransactionFacts> = {}): object {
  const facts = { kind: "transaction", reversedById: undefined, steps: [], ended: undefined } as const;
  // What the table holds now must not show.
  const row = transaction({ status: "FAILED", failure: "EXPIRED", openFlags: ["NOT_CREDITED"], railReceipt: RECEIPT });
  const now = { ...row, depositReceipt: undefined };
  return eventOf(of, { ...facts, transaction: now, ...given }).transaction ?? {};
}

function accountAt(of: EventRow, given: Partial<AccountFacts> = {}): ReturnType<typeof eventOf>["account"] {
  const createdAt = toUnixMillis(1_000);
  const facts = {
    kind: "account",
    accountId: ACCOUNT_ID,
    createdAt,
    tier: undefined,
    statusRow: undefined,
    freeze: undefined,
  } as const;
  return eventOf(of, { ...facts, ...given }).account;
}

describe("an event", () => {
  it("has an id of the organization, the sequence and the hash, and the balances of its row", () => {
    expect(
      eventOf(row("organization.suspended", { accountId: undefined, balancesAfter: undefined }), undefined),
    ).to.deep.equal({
      organizationId: ORGANIZATION,
      sequence: 9,
      id: "evt_01jd2r6p5vf8ksw3xhb1z7q4ye_9_01234567",
      type: "organization.suspended",
      recordedAt: 9_000,
      actor: "key_1",
      accountId: undefined,
      transaction: undefined,
      account: undefined,
      deposit: undefined,
      destination: undefined,
      apiKeyId: undefined,
      webhookEndpointId: undefined,
      railWarning: undefined,
      balances: undefined,
      row: undefined,
    });
  });

  it("shows what a row itself says only where no resource does", () => {
    const posting = { debit: "charges", credit: "reserve", amountCents: 5 as Cents } as const;
    const charged = eventOf(row("charge.recorded", { detail: "out 5", posting, receipt: RECEIPT }), undefined);
    expect(charged.row).to.deep.equal({ direction: "out", posting, receipt: RECEIPT });
    expect(charged.balances).to.deep.equal({ availableCents: 700, heldCents: 20 });
    expect(eventOf(row("account.tiered", { detail: "gold" }), undefined).row).to.equal(undefined);
  });

  it("names the API key or the endpoint that its row is about", () => {
    const own = { accountId: undefined, balancesAfter: undefined };
    const apiKeyId = "key_1" as ApiKeyId;
    const webhookEndpointId = "whe_1" as WebhookEndpointId;
    expect(eventOf(row("key.revoked", own), { kind: "key", apiKeyId })).to.include({ apiKeyId, account: undefined });
    expect(eventOf(row("webhook_endpoint.updated", own), { kind: "endpoint", webhookEndpointId })).to.include({
      webhookEndpointId,
      apiKeyId: undefined,
    });
  });

  it("says which warning its row raised or cleared", () => {
    const detail = JSON.stringify({ id: "rail_1", rail: "mpesa", code: "FLOAT_LOW", available_cents: 5 });
    for (const kind of ["rail.warned", "rail.cleared"] as const) {
      const own = { accountId: undefined, balancesAfter: undefined, detail };
      const railWarning = { rail: "mpesa", code: "FLOAT_LOW", figures: { available_cents: 5 } };
      expect(eventOf(row(kind, own), undefined).railWarning).to.deep.equal(railWarning);
    }
  });

  const open = { failure: undefined, completedAt: undefined, availableAfterCents: undefined, statusReason: "" };
  for (const [kind, given, facts, expected] of [
    ["transaction.pending", {}, {}, { ...open, status: "PENDING", openFlags: [], railReceipt: undefined }],
    ["transaction.processing", {}, { steps: [step(9, "transaction.processing")] }, { ...open, status: "PROCESSING" }],
    [
      "transaction.flagged",
      {},
      { steps: [step(9, "transaction.flagged", { detail: "REPORT_WITHOUT_ORDER" })] },
      { ...open, status: "PENDING", openFlags: ["REPORT_WITHOUT_ORDER"] },
    ],
    [
      "transaction.resolution_proposed",
      {},
      { steps: [step(6, "transaction.flagged", { detail: "OUTCOME_UNKNOWN" })] },
      { ...open, status: "PROCESSING", openFlags: ["OUTCOME_UNKNOWN"] },
    ],
    [
      "transaction.completed",
      { receipt: RECEIPT },
      {},
      {
        status: "COMPLETED",
        statusReason: REASON,
        failure: undefined,
        openFlags: [],
        railReceipt: RECEIPT,
        completedAt: 9_000,
        availableAfterCents: 700,
      },
    ],
    [
      "transaction.failed",
      { detail: "WRONG_PIN" },
      {},
      { ...open, status: "FAILED", statusReason: REASON, failure: "WRONG_PIN", openFlags: [] },
    ],
    ["transaction.canceled", {}, {}, { ...open, status: "CANCELED", statusReason: REASON }],
    [
      "transaction.receipted",
      { receipt: RECEIPT },
      { ended: ended("transaction.completed"), steps: [step(9, "transaction.receipted", { receipt: RECEIPT })] },
      {
        status: "COMPLETED",
        statusReason: "why it ended",
        railReceipt: RECEIPT,
        completedAt: 7_000,
        availableAfterCents: 500,
      },
    ],
    [
      "transaction.held",
      { detail: "AMOUNT,DAY" },
      { steps: [step(9, "transaction.held", { detail: "AMOUNT,DAY" })] },
      { status: "PENDING", heldFor: ["AMOUNT", "DAY"] },
    ],
    [
      "transaction.released",
      {},
      { steps: [step(8, "transaction.held", { detail: "AMOUNT" }), step(9, "transaction.released")] },
      { status: "PENDING", heldFor: [] },
    ],
    [
      "transaction.attended",
      {},
      {
        ended: ended("transaction.failed", { detail: "EXPIRED" }),
        reversedById: LATER,
        steps: [
          step(5, "transaction.flagged", { detail: "OUTCOME_UNKNOWN" }),
          step(8, "transaction.flagged", { detail: "NOT_CREDITED" }),
          step(8, "transaction.flagged", { detail: "REPORT_DIFFERS" }),
          step(9, "transaction.attended", { detail: "NOT_CREDITED" }),
        ],
      },
      {
        status: "FAILED",
        failure: "EXPIRED",
        openFlags: ["REPORT_DIFFERS"],
        reversedById: LATER,
        completedAt: undefined,
      },
    ],
  ] as const) {
    it(`${kind} shows the transaction as ${expected.status}, and nothing that came later`, () => {
      expect(transactionAt(row(kind, given), facts)).to.deep.include({
        ...expected,
        id: TRANSACTION_ID,
        updatedAt: 9_000,
        railMovement: undefined,
      });
    });
  }

  for (const [kind, statusRow, status, statusNote] of [
    ["account.created", undefined, "ACTIVE", ""],
    ["account.updated", { kind: "account.frozen", detail: undefined, reason: REASON }, "FROZEN", ""],
    ["account.unfrozen", { kind: "account.unfrozen", detail: "FROZEN", reason: REASON }, "FROZEN", ""],
    ["account.unfrozen", { kind: "account.unfrozen", detail: undefined, reason: REASON }, "ACTIVE", REASON],
    ["account.erased", { kind: "account.closed", detail: undefined, reason: REASON }, "CLOSED", REASON],
  ] as const) {
    it(`${kind} shows the account as ${status}, without a person`, () => {
      expect(accountAt(row(kind), { statusRow })).to.deep.equal({
        id: ACCOUNT_ID,
        status,
        statusNote,
        tier: "default",
        freeze: undefined,
        depositReference: undefined,
        createdAt: 1_000,
        updatedAt: 9_000,
      });
    });
  }

  for (const [kind, shown] of [
    ["account.created", "20000006"],
    // The detail of another row is something else.
    ["account.tiered", undefined],
  ] as const) {
    it(`${kind} shows ${shown ?? "no"} deposit reference`, () => {
      expect(accountAt(row(kind, { detail: "20000006" }))?.depositReference).to.equal(shown);
    });
  }

  for (const [kind, detail, status, reason] of [
    ["deposit.received", "dep_1 NO_REFERENCE", "UNALLOCATED", "NO_REFERENCE"],
    ["deposit.received", "dep_1 RECEIPT_ALREADY_USED kcb:d1 txn_1", "UNALLOCATED", "RECEIPT_ALREADY_USED"],
    // The next row is the mint that credits it.
    ["deposit.received", "dep_1", "UNALLOCATED", undefined],
    ["deposit.returned", "dep_1", "RETURNED", undefined],
    ["deposit.reversed", "dep_1", "REVERSED", undefined],
  ] as const) {
    it(`${kind} shows the deposit as ${status}, and not what its payer typed`, () => {
      const { rail, receipt, amountCents, maskedPhone, paidAt, createdAt } = givenDeposit();
      const deposit = { rail, receipt, amountCents, maskedPhone, paidAt, createdAt };
      const of = row(kind, { accountId: undefined, balancesAfter: undefined, detail });
      expect(eventOf(of, { kind: "deposit", deposit }).deposit).to.deep.equal({
        ...deposit,
        id: "dep_1",
        status,
        sameNumber: reason === "RECEIPT_ALREADY_USED" ? { receipt: "kcb:d1", id: "txn_1" } : undefined,
        reason,
        accountId: undefined,
        transactionId: undefined,
        typedReference: undefined,
        updatedAt: 9_000,
      });
    });
  }

  it("shows the receipt of a deposit on the mint that credits it", () => {
    const now = { ...transaction({ depositId: "dep_1" as DepositId }), depositReceipt: RECEIPT };
    expect(transactionAt(row("transaction.completed"), { transaction: now })).to.include({
      depositId: "dep_1",
      railReceipt: RECEIPT,
    });
  });

  it("shows the tier that the account had then", () => {
    expect(accountAt(row("account.tiered"), { tier: "full" as TierName })).to.include({ tier: "full" });
  });

  it("shows the freeze that it began or ended, and who lifted it only when it did", () => {
    const freeze = {
      id: "frz_1" as FreezeId,
      reason: "FRAUD",
      note: REASON,
      createdBy: "key_0" as Actor,
      createdAt: toUnixMillis(3_000),
    } as const;
    const shown = { ...freeze, organizationId: ORGANIZATION, accountId: ACCOUNT_ID };
    expect(accountAt(row("account.frozen"), { freeze })?.freeze).to.deep.equal({ ...shown, lifted: undefined });
    expect(accountAt(row("account.unfrozen"), { freeze })?.freeze).to.deep.equal({
      ...shown,
      lifted: { by: "key_1", at: 9_000, note: REASON },
    });
  });
});
