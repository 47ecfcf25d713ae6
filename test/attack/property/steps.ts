import fc from "fast-check";

import type { Command } from "../../../src/domain/operations.js";
import type { Decider } from "../../../src/domain/proposal.js";
import { DIRECT_RAIL } from "../../../src/domain/transaction.js";
import { OPERATOR } from "../../../src/domain/values/actor.js";
import { type Cents, formatCents, MAX_CENTS, toCents } from "../../../src/domain/values/cents.js";
import type { PhoneNumber } from "../../../src/domain/values/phone-number.js";
import { depositReference, newProposalId, SLOW_RAIL } from "../../support/names.js";
import {
  closeAccount,
  createAccount,
  eraseAccount,
  freezeAccount,
  setAccountTier,
  setLimits,
  unfreezeAccount,
  updateAccount,
} from "../../support/operations/accounts.js";
import { correctBook } from "../../support/operations/corrections.js";
import { cancel, mint, redeem, reverse } from "../../support/operations/transactions.js";
import { depositCommandOf, type DepositStep, depositStep } from "./deposit-steps.js";
import type { Model } from "./model.js";
import { paymentCommandOf, paymentStep } from "./payment-steps.js";
import {
  accountIdOf,
  agreeing,
  amountCents,
  freezeIdOf,
  key,
  organizationId,
  rarely,
  transactionIdOf,
  user,
  weighted,
} from "./step-things.js";

const step = fc.oneof(
  weighted(3, { name: fc.constant("createAccount"), organizationId, user, key, otherPhone: rarely }),
  weighted(10, {
    name: fc.constantFrom("mint", "mint", "redeem"),
    organizationId,
    user,
    ofStranger: rarely,
    amountCents,
    reference: fc.nat(40),
    described: rarely,
    rail: fc.constantFrom(DIRECT_RAIL, SLOW_RAIL),
    stepCents: fc.constantFrom(1, 1, 1, 1, 5),
    phoneCoolingMillis: fc.constantFrom(0, 600_000),
    key,
  }),
  weighted(4, {
    name: fc.constantFrom("closeAccount", "eraseAccount", "eraseAccount", "updateAccount", "updateAccount"),
    organizationId,
    user,
    ofStranger: rarely,
  }),
  weighted(1, {
    name: fc.constant("freezeAccount"),
    organizationId,
    user,
    ofStranger: rarely,
    reason: fc.constantFrom("FRAUD", "COURT_ORDER"),
    key,
  }),
  weighted(2, {
    name: fc.constant("unfreezeAccount"),
    organizationId,
    user,
    ofStranger: rarely,
    ofOtherAccount: rarely,
    age: fc.nat(2),
  }),
  weighted(2, { name: fc.constant("cancelTransaction"), organizationId, ofStranger: rarely, age: fc.nat(4) }),
  weighted(3, {
    name: fc.constant("reverseTransaction"),
    organizationId,
    ofStranger: rarely,
    age: fc.nat(3),
    described: fc.boolean(),
    key,
  }),
  paymentStep,
  weighted(2, {
    name: fc.constant("setLimits"),
    organizationId,
    tier: fc.constantFrom(undefined, "default", "small"),
    type: fc.constantFrom("MINT", "MINT", "REDEEM"),
    limit: fc.constantFrom(
      "TRANSACTION",
      "DAY",
      "MONTH",
      "HELD_AMOUNT",
      "HELD_DAY",
      "HELD_NEW_DESTINATION",
      "HELD_CHANGED",
    ),
    limitCents: fc.constantFrom("NONE", "NONE", 200, 1_000, 3_000, undefined),
  }),
  weighted(1, {
    name: fc.constant("setAccountTier"),
    organizationId,
    user,
    ofStranger: rarely,
    tier: fc.constantFrom("default", "small", "unknown"),
  }),
  weighted(5, {
    name: fc.constantFrom(
      "coverShortfall",
      "recoverShortfall",
      "allocate",
      "returnUnallocated",
      "bookReceipt",
      "bookPayment",
      "adjustMovement",
      "explainTransfer",
      "fundCharges",
    ),
    direction: fc.constantFrom("in", "out"),
    hasAccount: fc.boolean(),
    organizationId,
    user,
    ofStranger: rarely,
    amountCents: fc.oneof(
      { weight: 4, arbitrary: fc.integer({ min: 1, max: 60 }) },
      { weight: 1, arbitrary: fc.constantFrom(300, MAX_CENTS) },
    ),
    receipt: fc.constantFrom("r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8"),
    key: fc.constantFrom("c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"),
    person: fc.constantFrom("amina", "Amina", "brian"),
    isAgreed: fc.boolean(),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** A step of any kind. */
export const anyStep = fc.oneof({ weight: 6, arbitrary: step }, { weight: 1, arbitrary: depositStep });

/** One person wants what happens to a deposit, and another one does it. */
export function commandsOf(given: Step | DepositStep, model: Model): readonly Command[] {
  if (!("isFirst" in given)) return [commandOf(given, model)];
  const command = depositCommandOf(given, model);
  if (!("facts" in command || command.name === "returnDeposit")) return [command];
  return ["carol", "dan"].map((person) => ({
    ...command,
    authority: { ...command.authority, person: person as Decider, newProposalId: newProposalId() },
  }));
}

/**
 * Makes a command of a step. It looks the ids up in the model; they may be missing, or another
 * organization's.
 */
function commandOf(given: Step, model: Model): Command {
  if ("resolution" in given) return paymentCommandOf(given, model);
  switch (given.name) {
    case "createAccount":
      return createAccount(given.organizationId, given.user, {
        depositReferences: [0, 1].map(depositReference),
        ...(given.key === undefined ? {} : { key: given.key }),
        ...(given.otherPhone ? { phoneNumber: "+254733000000" as PhoneNumber } : {}),
      });
    case "mint":
    case "redeem":
      return { mint, redeem }[given.name]({
        organizationId: given.organizationId,
        accountId: accountIdOf(given, model),
        amount: formatCents(toCents(given.amountCents)),
        reference: `r${String(given.reference)}`,
        description: given.described ? "described" : "",
        rail: given.rail,
        terms: {
          payable: { minCents: toCents(given.stepCents), maxCents: MAX_CENTS, stepCents: toCents(given.stepCents) },
          phoneCoolingMillis: given.phoneCoolingMillis,
        },
        ...(given.key === undefined ? {} : { key: given.key }),
      });
    case "cancelTransaction":
      return cancel(given.organizationId, transactionIdOf(given, model));
    case "reverseTransaction":
      return reverse(given.organizationId, transactionIdOf(given, model), {
        description: given.described ? "described" : "",
        ...(given.key === undefined ? {} : { key: given.key }),
      });
    case "freezeAccount": {
      const { key: idempotencyKey, reason } = given;
      return freezeAccount(given.organizationId, accountIdOf(given, model), {
        reason,
        ...(idempotencyKey === undefined ? {} : { key: idempotencyKey }),
      });
    }
    case "unfreezeAccount": {
      const accountId = accountIdOf(given, model);
      return unfreezeAccount(given.organizationId, accountId, freezeIdOf(accountId, given, model));
    }
    case "closeAccount":
      return closeAccount(given.organizationId, accountIdOf(given, model));
    case "updateAccount":
      return updateAccount(given.organizationId, accountIdOf(given, model));
    case "eraseAccount":
      return { ...eraseAccount(given.organizationId, accountIdOf(given, model)), actor: OPERATOR };
    case "setLimits": {
      const { limit, limitCents } = given;
      const type = limit.startsWith("HELD") ? "REDEEM" : given.type;
      const changes = limitCents === undefined ? undefined : { [limit]: limitCents as Cents | "NONE" };
      return setLimits(given.organizationId, { tier: given.tier, type, changes });
    }
    case "setAccountTier":
      return setAccountTier(given.organizationId, accountIdOf(given, model), given.tier);
    case "coverShortfall":
    case "recoverShortfall":
    case "allocate":
    case "returnUnallocated":
    case "bookReceipt":
    case "bookPayment":
    case "adjustMovement":
    case "explainTransfer":
    case "fundCharges": {
      const wanted = given.isAgreed ? model.waiting(given.organizationId).at(-1) : undefined;
      if (wanted !== undefined) return agreeing(wanted, given.person);
      const target = given.name === "allocate" || given.name === "recoverShortfall";
      return correctBook(given.name, given.organizationId, {
        ...given,
        account: given.hasAccount ? accountIdOf(given, model) : undefined,
        target: target ? accountIdOf(given, model) : given.receipt,
      });
    }
  }
}
