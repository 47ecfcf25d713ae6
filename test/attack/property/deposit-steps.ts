import fc from "fast-check";

import type { EndReturn } from "../../../src/domain/deposits/end-return.js";
import type { ReceiveDeposit } from "../../../src/domain/deposits/receive-deposit.js";
import type { MoveMoney } from "../../../src/domain/money/move-money.js";
import type { DepositCommand } from "../../../src/domain/operations.js";
import type { RecordCharge } from "../../../src/domain/rails/record-charge.js";
import { formatCents, toCents } from "../../../src/domain/values/cents.js";
import type { MaskedPhone } from "../../../src/domain/values/masked-phone.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { depositReference, newDepositId, newTransactionId } from "../../support/names.js";
import {
  assignDeposit,
  endReturn,
  receiveDeposit,
  recordCharge,
  recordDeposit,
  returnDeposit,
  returnThroughRail,
  reverseDeposit,
  unassignDeposit,
} from "../../support/operations/deposits.js";
import { mint } from "../../support/operations/transactions.js";
import type { Model } from "./model.js";
import type { ModelDeposit } from "./rows.js";
import { accountIdOf, amountCents, organizationId, ownedBy, rarely, user } from "./step-things.js";

/** A step of a deposit, or of a charge. */
export const depositStep = fc.record({
  name: fc.constantFrom(
    "receiveDeposit",
    "receiveDeposit",
    "recordDeposit",
    "assignDeposit",
    "assignDeposit",
    "unassignDeposit",
    "returnDeposit",
    "returnThroughRail",
    "endReturn",
    "reverseDeposit",
    "recordCharge",
    "claim",
  ),
  organizationId,
  user,
  ofStranger: rarely,
  age: fc.nat(2),
  amountCents: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 99 }) },
    { weight: 1, arbitrary: amountCents },
  ),
  receipt: fc.constantFrom("own", "own", "own", "d1", "d2", "r1", "r2"),
  typed: fc.constantFrom("", "rent", "0", "0", "1", "order", "order"),
  isConfirmed: fc.boolean(),
  isNear: fc.boolean(),
  hasAccount: fc.boolean(),
  isFirst: fc.boolean(),
});
export type DepositStep = typeof depositStep extends fc.Arbitrary<infer Value> ? Value : never;

type OnDeposit = DepositCommand | EndReturn | ReceiveDeposit | RecordCharge | MoveMoney;

export function depositCommandOf(given: DepositStep, model: Model): OnDeposit {
  const { organizationId: caller, age } = given;
  const owned = ownedBy(given, model.deposits.values());
  const isFitting = (deposit: ModelDeposit): boolean =>
    deposit.status === (given.name === "unassignDeposit" ? "CREDITED" : "UNALLOCATED");
  const fitting = given.isNear ? owned.filter(isFitting) : [];
  const deposit = (fitting.length > 0 ? fitting : owned).at(-1 - age);
  const id = deposit?.id ?? newDepositId();
  const mintId = deposit?.transactionId ?? newTransactionId();
  const receipt = given.receipt === "own" ? `x${given.name}${String(id)}` : given.receipt;
  const amount = toCents(given.amountCents);
  switch (given.name) {
    case "recordCharge":
      return recordCharge(caller, { movement: receipt, direction: given.isNear ? "in" : "out", amountCents: amount });
    case "receiveDeposit":
      return receivedOf(given, `${receipt}${String(model.deposits.size)}`, model);
    case "recordDeposit":
      return recordDeposit(caller, {
        receipt: given.receipt === "own" ? `${receipt}${String(model.deposits.size)}` : receipt,
        amountCents: amount,
        accountId: given.hasAccount ? accountIdOf(given, model) : undefined,
      });
    case "assignDeposit":
      return assignDeposit(caller, id, accountIdOf(given, model));
    case "unassignDeposit":
      return unassignDeposit(caller, id, mintId);
    case "returnDeposit":
      return returnDeposit(caller, id, receipt);
    case "returnThroughRail":
      return returnThroughRail(caller, id);
    case "endReturn": {
      const begunAt = { organizationId: caller, id, updatedAt: toUnixMillis(1) };
      return given.isFirst ? endReturn(begunAt, receipt) : endReturn(begunAt);
    }
    case "reverseDeposit":
      return reverseDeposit(caller, id, { receipt, transactionId: given.isFirst ? deposit?.transactionId : mintId });
    case "claim": {
      const claimed = deposit?.receipt ?? receipt;
      return mint({
        organizationId: caller,
        accountId: accountIdOf(given, model),
        amount: formatCents(given.isFirst ? amount : (deposit?.amountCents ?? amount)),
        reference: `claims ${claimed}`,
        receipt: claimed,
      });
    }
  }
}

/** Shillings with what was typed: nothing, a word, the number of an account, or an order. */
function receivedOf(given: DepositStep, unused: string, model: Model): ReceiveDeposit {
  const { organizationId: caller, typed, age } = given;
  const orders = ownedBy(given, model.transactions.values()).filter(({ payment }) => payment !== undefined);
  const mints = given.isNear ? orders.filter(({ type }) => type === "MINT") : orders;
  const order = typed === "order" ? mints.at(-1 - age) : undefined;
  const receipts = [...model.transactions.values()].flatMap(({ railReceipt }) => railReceipt ?? []);
  return receiveDeposit(caller, {
    receipt: given.receipt === "own" ? unused : given.receipt,
    amountCents: given.hasAccount && order !== undefined ? order.amountCents : toCents(given.amountCents),
    typed: typed === "0" || typed === "1" ? depositReference(Number(typed)) : typed,
    orderId: typed === "order" ? (order?.id ?? newTransactionId()) : undefined,
    confirmedReceipts: given.isConfirmed ? receipts : [],
    ...(given.isFirst ? { phone: "254******678" as MaskedPhone } : {}),
  });
}
