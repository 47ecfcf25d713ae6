import type { JsonObject } from "@bufbuild/protobuf";
import { status as Status } from "@grpc/grpc-js";

import type { Authority } from "../../../src/domain/authority.js";
import type { MoveMoney } from "../../../src/domain/money/move-money.js";
import type { ReverseByOperator, ReverseTransaction } from "../../../src/domain/money/reverse-transaction.js";
import type { AdvancePayment } from "../../../src/domain/orders/advance-payment.js";
import type { CompletePayment } from "../../../src/domain/orders/complete-payment.js";
import type { FailPayment } from "../../../src/domain/orders/fail-payment.js";
import type { FlagReason, MovementReport, RailReference, RailTerms, Resolution } from "../../../src/domain/payment.js";
import { DIRECT_RAIL } from "../../../src/domain/transaction.js";
import { OPERATOR } from "../../../src/domain/values/actor.js";
import { parseAmount, toCents } from "../../../src/domain/values/cents.js";
import type { AccountId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import {
  NO_REASON,
  parseDescription,
  parseMetadata,
  parseReference,
  type StatusReason,
} from "../../../src/domain/values/text.js";
import {
  ALONE,
  authorityOf,
  build,
  buildByPerson,
  type ByPerson,
  type CommandOf,
  type Given,
  keyOf,
  newIds,
} from "../commands.js";
import { givenPayment, givenPending, givenTransaction } from "../given.js";
import {
  newTransactionId,
  NO_DEADLINE,
  ORGANIZATION,
  RAIL_TERMS,
  receiptNamed,
  SLOW_RAIL,
  TEST_ACTOR,
  valid,
} from "../names.js";
import { account, NOTHING_ALONE } from "./before.js";
import type { OperationRows } from "./row.js";
import { fresh, type Things } from "./things.js";

export interface Movement {
  readonly organizationId: OrganizationId;
  readonly accountId: AccountId;
  readonly amount: string;
  readonly reference: string;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly key?: string;
  readonly receipt?: string;
  readonly rail?: MoveMoney["rail"];
  readonly terms?: Partial<RailTerms>;
}

export function mint(movement: Movement): MoveMoney {
  return moveMoney("mint", movement);
}

export function redeem(movement: Movement): MoveMoney {
  return moveMoney("redeem", movement);
}

function moveMoney(name: MoveMoney["name"], movement: Movement): MoveMoney {
  const { organizationId, accountId, receipt, rail = DIRECT_RAIL } = movement;
  return build(name, organizationId, {
    newTransactionId: newTransactionId(),
    accountId,
    amountCents: valid(parseAmount(movement.amount)),
    reference: valid(parseReference(movement.reference)),
    ...wordsOf(movement),
    rail,
    ...(rail === DIRECT_RAIL ? {} : { railTerms: { ...RAIL_TERMS, ...movement.terms } }),
    ...(receipt === undefined ? {} : { receipt: receiptNamed(receipt) }),
    idempotencyKey: keyOf(movement.key),
  });
}

function wordsOf({ description = "", metadata = {} }: Pick<Movement, "description" | "metadata">) {
  return {
    description: valid(parseDescription(description)),
    metadata: valid(parseMetadata(new Map(Object.entries(metadata)))),
  };
}

/** Reverses a transaction, without words unless told otherwise. */
export function reverse(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  given: Pick<Partial<Movement>, "description" | "metadata" | "receipt" | "key"> = {},
): ReverseTransaction {
  return {
    name: "reverseTransaction",
    organizationId,
    actor: TEST_ACTOR,
    transactionId,
    newTransactionId: newTransactionId(),
    ...wordsOf(given),
    ...(given.receipt === undefined ? {} : { receipt: receiptNamed(given.receipt) }),
    idempotencyKey: keyOf(given.key),
  };
}

/** The same on the word of an operator. */
export function reverseByOperator(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  authority: Partial<Authority> = {},
): ReverseByOperator {
  return {
    name: "reverseTransaction",
    organizationId,
    actor: OPERATOR,
    authority: { ...ALONE, ...authority },
    transactionId,
    receipt: undefined,
    note: "paid twice" as StatusReason,
    facts: { newTransactionId: newTransactionId() },
  };
}

export function cancel(organizationId: OrganizationId, transactionId: TransactionId): CommandOf<"cancelTransaction"> {
  return build("cancelTransaction", organizationId, { transactionId, reason: NO_REASON });
}

/** Most tests have no account at the rail: its revision is 0. */
export function beginPayment(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  railRevision = 0,
): CommandOf<"beginPayment"> {
  return build("beginPayment", organizationId, { transactionId, nextCheckAt: NO_DEADLINE, railRevision });
}

export function advancePayment<Name extends AdvancePayment["name"]>(
  name: Name,
  organizationId: OrganizationId,
  transactionId: TransactionId,
  sends = 1,
  isTurnedAway = false,
): CommandOf<Name> {
  const answer = name === "acceptPayment" ? { railReference: "ws_CO_1" as RailReference } : { sends, isTurnedAway };
  const fields = { transactionId, nextCheckAt: NO_DEADLINE, ...answer };
  return build(name, organizationId, fields as unknown as Parameters<typeof build<Name>>[2]);
}

/** A report that names a movement, a receipt, or both. */
export function completePayment(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  report: { movement?: string; receipt?: string } & Partial<Pick<MovementReport, "amountCents" | "phone">>,
): CompletePayment {
  const { movement, receipt, amountCents, phone } = report;
  const said = { movement, receipt, amountCents, phone, reason: NO_REASON };
  const newId = newTransactionId();
  return build("completePayment", organizationId, {
    transactionId,
    newTransactionId: newId,
    ...said,
  } as CompletePayment);
}

export function failPayment(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  failure: FailPayment["failure"] = "WRONG_PIN",
): CommandOf<"failPayment"> {
  return build("failPayment", organizationId, { transactionId, failure, reason: NO_REASON });
}

export function flag(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  reason: FlagReason = "OUTCOME_UNKNOWN",
): CommandOf<"flagTransaction"> {
  return build("flagTransaction", organizationId, { transactionId, flag: reason, reason: NO_REASON });
}

export function clearFlag(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  reason: FlagReason,
): CommandOf<"clearFlag"> {
  return buildByPerson("clearFlag", organizationId, { transactionId, flag: reason });
}

/** Decides about a redemption that is held. */
export function decideHeld<Name extends "releaseTransaction" | "refuseTransaction">(
  name: Name,
  organizationId: OrganizationId,
  transactionId: TransactionId,
  { payoutFile, person }: { readonly payoutFile?: string } & ByPerson = {},
): CommandOf<Name> {
  const fields = { transactionId, payoutFile } as unknown as Parameters<typeof buildByPerson<Name>>[2];
  return buildByPerson(name, organizationId, fields, { person });
}

export function resolve(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  resolution: Resolution,
  by: ByPerson = {},
): CommandOf<"resolveTransaction"> {
  const facts = { newTransactionId: newTransactionId(), note: NO_REASON };
  const authority = { ...authorityOf(by), isOfKey: true } as const;
  return build("resolveTransaction", organizationId, { authority, transactionId, resolution, facts });
}

/** Completes orders, each with a receipt and its amount. */
export function resolveTransactions(
  organizationId: OrganizationId,
  results: readonly (readonly [id: TransactionId, receipt: string, amountCents: number])[],
  { person, ...given }: Given<"resolveTransactions"> & ByPerson = {},
): CommandOf<"resolveTransactions"> {
  const fields = {
    facts: newIds(),
    results: results.map(([transactionId, receipt, amountCents]) => {
      return { transactionId, receipt: receiptNamed(receipt), amountCents: toCents(amountCents) };
    }),
  };
  return buildByPerson("resolveTransactions", organizationId, { ...fields, ...given }, { person });
}

const direct = givenTransaction({ accountId: account.id });
const sent = givenPending({ accountId: account.id, status: "PROCESSING", amountCents: toCents(2_000) });
const order = {
  ...NOTHING_ALONE,
  accounts: [account],
  transactions: [sent],
  payments: [givenPayment(sent, { state: "ACCEPTED" })],
};
/** A redemption that the list holds. */
const listed = givenPending({
  accountId: account.id,
  type: "REDEEM",
  amountCents: toCents(2_000),
  heldFor: ["AMOUNT", "LISTED"],
});
const listedOrder = {
  ...NOTHING_ALONE,
  accounts: [{ ...account, openPayments: 1 }],
  transactions: [listed],
  payments: [givenPayment(listed)],
};
const ofTransaction = ({ transaction_id }: Things): JsonObject => ({ transaction_id });

/** The request of a mint or a redemption. */
export const movement = (account_id: string, amount: string): JsonObject => ({
  account_id,
  amount,
  reference: fresh(),
});

/** The operations that move money, and those of orders at a rail. */
export const ON_TRANSACTIONS = {
  mint: {
    inSuspension: "nobody",
    example: ({ organizationId, accountId }) =>
      mint({ organizationId, accountId, amount: "5.00", reference: "in", metadata: { till: "7" } }),
    rpc: { request: ({ account_id }) => movement(account_id, "1.00") },
  },
  redeem: {
    inSuspension: "nobody",
    example: ({ organizationId, accountId }) =>
      redeem({ organizationId, accountId, amount: "2.00", reference: "out", rail: SLOW_RAIL, key: "out" }),
    rpc: { request: ({ account_id }) => movement(account_id, "0.01") },
  },
  cancelTransaction: {
    inSuspension: "operators",
    changes: "transaction.canceled",
    example: ({ organizationId, of }) => cancel(organizationId, of("redeem").newTransactionId),
    // The transaction is completed.
    rpc: { request: ofTransaction, code: Status.FAILED_PRECONDITION },
  },
  reverseTransaction: {
    inSuspension: "operators",
    example: ({ organizationId, of }) =>
      reverse(organizationId, of("mint").newTransactionId, { description: "twice", key: "undo" }),
    proposed: {
      rows: { ...NOTHING_ALONE, accounts: [account], transactions: [direct] },
      command: reverseByOperator(ORGANIZATION, direct.id),
      shown: [
        "transaction: mint of 50.00 KES, completed > reversed by a redemption of the same amount",
        "reason:  > paid twice",
      ],
      thereAndBack: "a reversal happens once",
    },
    alsoProposed: [
      {
        about: "of a redemption",
        rows: { ...NOTHING_ALONE, accounts: [account], transactions: [{ ...direct, type: "REDEEM" }] },
        command: reverseByOperator(ORGANIZATION, direct.id),
        shown: [
          "transaction: redemption of 50.00 KES, completed > reversed by a mint of the same amount",
          "reason:  > paid twice",
        ],
      },
    ],
  },
  beginPayment: {
    repeated: "refusal",
    inSuspension: "nobody",
    example: ({ organizationId, orders }) => beginPayment(organizationId, orders.ready, 1),
  },
  postponePayment: {
    inSuspension: "everybody",
    example: ({ organizationId, orders }) => advancePayment("postponePayment", organizationId, orders.ready),
  },
  acceptPayment: {
    inSuspension: "everybody",
    example: ({ organizationId, orders }) => advancePayment("acceptPayment", organizationId, orders.ready),
  },
  flagTransaction: {
    inSuspension: "everybody",
    example: ({ organizationId, orders }) => flag(organizationId, orders.ready),
  },
  completePayment: {
    inSuspension: "everybody",
    example: ({ organizationId, orders }) =>
      completePayment(organizationId, orders.ready, { movement: "m1", receipt: "r1" }),
  },
  failPayment: {
    inSuspension: "everybody",
    example: ({ organizationId, orders }) => failPayment(organizationId, orders.unbegun),
  },
  clearFlag: {
    inSuspension: "operators",
    example: ({ organizationId, orders }) => clearFlag(organizationId, orders.flagged, "OUTCOME_UNKNOWN"),
    rpc: { request: ({ transaction_id }) => ({ transaction_id, flag: 1 }), code: Status.NOT_FOUND },
  },
  releaseTransaction: {
    inSuspension: "operators",
    changes: "transaction.released",
    example: ({ organizationId, orders }) => decideHeld("releaseTransaction", organizationId, orders.held),
    proposed: {
      rows: listedOrder,
      command: decideHeld("releaseTransaction", ORGANIZATION, listed.id),
      shown: [`payout ${listed.id}: held: amount, listed > released`],
      thereAndBack: "a hold ends once",
    },
  },
  refuseTransaction: {
    inSuspension: "operators",
    changes: "transaction.failed",
    example: ({ organizationId, orders }) => decideHeld("refuseTransaction", organizationId, orders.unwanted),
    proposed: {
      rows: listedOrder,
      command: decideHeld("refuseTransaction", ORGANIZATION, listed.id),
      shown: [`payout ${listed.id}: held: amount, listed > refused`],
      thereAndBack: "a hold ends once",
    },
  },
  resolveTransaction: {
    inSuspension: "operators",
    example: ({ organizationId, orders }) =>
      resolve(organizationId, orders.doubted, { kind: "COMPLETED", receipt: receiptNamed("r2") }),
    rpc: { request: ({ transaction_id }) => ({ transaction_id, failed: {} }), code: Status.NOT_FOUND },
    proposed: {
      rows: order,
      command: resolve(ORGANIZATION, sent.id, { kind: "FAILED" }),
      shown: ["transaction: processing > failed", "amount: 20.00 KES > nothing moved"],
      changed: [{ transactions: [{ ...sent, openFlags: ["REPORT_DIFFERS"] }] }, "flags", "", "report differs"],
      thereAndBack: "a flag of an open order stays up",
    },
  },
  resolveTransactions: {
    repeated: "parts that are replays",
    inSuspension: "operators",
    notRandom: "test/storage/lost-night.test.ts has acts of several parts",
    example: ({ organizationId, orders }) => resolveTransactions(organizationId, [[orders.lost, "r16", 100]]),
    proposed: {
      rows: order,
      command: resolveTransactions(ORGANIZATION, [[sent.id, "r1", 2_000]]),
      shown: ["orders: processing > 1 completed, together 20.00 KES", `${sent.id}:  > 20.00 KES, receipt r1`],
      thereAndBack: "an order that is not open any more is left as it is",
    },
  },
} satisfies Partial<OperationRows>;
