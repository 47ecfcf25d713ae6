import { expect } from "chai";

import { factsOf } from "../../src/domain/answer.js";
import type { RailReceipt } from "../../src/domain/payment.js";
import { type Refusal, REFUSALS } from "../../src/domain/refusal.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { DepositId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { exampleOf } from "../support/refusal-examples.js";
import { ACCOUNT_ID as accountId, TRANSACTION_ID as transactionId } from "../support/service/grpc-server.js";

const {
  AMOUNT_NOT_PAYABLE,
  INVALID_TRANSITION,
  LIMIT_EXCEEDED,
  RECEIPT_ALREADY_USED,
  REFERENCE_ALREADY_USED,
  TRANSACTION_NOT_REVERSIBLE,
  WEBHOOK_ENDPOINT_ALREADY_EXISTS,
} = REFUSALS;

const receipt = "RKT1" as RailReceipt;
const payable = { minCents: toCents(1_000), maxCents: toCents(2_000), stepCents: toCents(100) };
const day = { period: "DAY", usedCents: 100, remainingCents: 400, resetsAt: toUnixMillis(0) } as const;
const one = { period: "TRANSACTION", usedCents: undefined, remainingCents: 500, resetsAt: undefined } as const;
const { endpointId } = exampleOf("WEBHOOK_ENDPOINT_BUSY").refusal as Extract<
  Refusal,
  { reason: "WEBHOOK_ENDPOINT_BUSY" }
>;

describe("a refusal", () => {
  for (const reason of Object.keys(REFUSALS) as Refusal["reason"][]) {
    it(`${reason} has the facts of its fields`, () => {
      const { refusal, facts } = exampleOf(reason);
      expect(Object.fromEntries(factsOf(REFUSALS[reason].fields, refusal))).to.deep.equal(facts);
    });
  }

  it("leaves out the facts that it does not have", () => {
    expect(factsOf(["accountId", "limitCents", "reached"], { limitCents: 500, reached: one })).to.deep.equal([
      ["max_amount", "5.00"],
      ["period", "transaction"],
      ["remaining", "5.00"],
    ]);
  });

  for (const [words, message] of [
    ["from frozen to closed.", INVALID_TRANSITION.message({ from: "FROZEN", to: "CLOSED" })],
    ["yet: the rail was asked", INVALID_TRANSITION.message({ from: "PROCESSING", to: "FAILED" })],
    ["to failed: the rail was not asked yet.", INVALID_TRANSITION.message({ from: "PENDING", to: "FAILED" })],
    ["to completed: the rail was not asked yet.", INVALID_TRANSITION.message({ from: "PENDING", to: "COMPLETED" })],
    [
      "The organization would exceed the limit of 5.00.",
      LIMIT_EXCEEDED.message({ accountId: undefined, limitCents: 500 }),
    ],
    ["limit of 5.00 for one transaction.", LIMIT_EXCEEDED.message({ accountId, limitCents: 500, reached: one })],
    ["a day: 1.00 is used, 4.00 is left", LIMIT_EXCEEDED.message({ accountId, limitCents: 500, reached: day })],
    [
      "The nearest: 20.00.",
      AMOUNT_NOT_PAYABLE.message({ payable, nearest: { belowCents: toCents(2_000), aboveCents: undefined } }),
    ],
    [
      "belongs to a correction of the book.",
      RECEIPT_ALREADY_USED.message({ receipt, transactionId: undefined, depositId: undefined }),
    ],
    [
      "belongs to dep_1. If that deposit waits, a mint of exactly its amount credits it.",
      RECEIPT_ALREADY_USED.message({ receipt, transactionId: undefined, depositId: "dep_1" as DepositId }),
    ],
    ["it is a reversal itself", TRANSACTION_NOT_REVERSIBLE.message({ transactionId, cause: "IS_REVERSAL" })],
    ["whe_1.", WEBHOOK_ENDPOINT_ALREADY_EXISTS.message({ endpointId, differingFields: [] })],
    ["other values of types.", WEBHOOK_ENDPOINT_ALREADY_EXISTS.message({ endpointId, differingFields: ["types"] })],
    ["with another amount.", REFERENCE_ALREADY_USED.message({ transactionId, differingFields: ["amount"] })],
    [
      "another amount, description and metadata.",
      REFERENCE_ALREADY_USED.message({ transactionId, differingFields: ["amount", "description", "metadata"] }),
    ],
  ] as const) {
    it(`says "${words}"`, () => {
      expect(message).to.include(words);
    });
  }
});
