import fc from "fast-check";

import type { Command } from "../../../src/domain/operations.js";
import type { Resolution } from "../../../src/domain/payment.js";
import { MAX_CENTS, toCents } from "../../../src/domain/values/cents.js";
import type { MaskedPhone } from "../../../src/domain/values/masked-phone.js";
import { newTransactionId, receiptNamed } from "../../support/names.js";
import {
  advancePayment,
  beginPayment,
  clearFlag,
  completePayment,
  decideHeld,
  failPayment,
  flag,
  resolve,
} from "../../support/operations/transactions.js";
import type { Model } from "./model.js";
import type { ModelTransaction } from "./rows.js";
import { agreeing, organizationId, ownedBy, rarely, weighted } from "./step-things.js";

/** A step of an order. */
export const paymentStep = weighted(16, {
  name: fc.constantFrom(
    "beginPayment",
    "beginPayment",
    "acceptPayment",
    "postponePayment",
    "completePayment",
    "completePayment",
    "completePayment",
    "failPayment",
    "flagTransaction",
    "clearFlag",
    "resolveTransaction",
    "resolveTransaction",
    "releaseTransaction",
    "refuseTransaction",
  ),
  organizationId,
  ofStranger: rarely,
  age: fc.nat(3),
  movement: fc.constantFrom("own", "own", "m1", "m2", undefined),
  receipt: fc.constantFrom("own", "own", "r1", "r2", "r3", undefined),
  differs: fc.constantFrom(false, false, false, true),
  isNear: fc.boolean(),
  sends: fc.constantFrom(1, 1, 2),
  failure: fc.constantFrom("WRONG_PIN", "EXPIRED"),
  isAgain: fc.constantFrom(false, false, true),
  flag: fc.constantFrom("OUTCOME_UNKNOWN", "REPORT_DIFFERS", "NOT_CREDITED"),
  resolution: fc.constantFrom("COMPLETED", "FAILED", "MOVED"),
  person: fc.constantFrom("amina", "Amina", "brian"),
  isAgreed: fc.boolean(),
});
type PaymentStep = typeof paymentStep.arbitrary extends fc.Arbitrary<infer Value> ? Value : never;

/** The orders that a step moves on. */
const FITS: Readonly<Record<PaymentStep["name"], (order: ModelTransaction) => boolean>> = {
  beginPayment: ({ payment }) => payment?.state === "READY",
  acceptPayment: ({ payment }) => payment?.state === "SENDING",
  postponePayment: ({ payment }) => payment?.state === "SENDING",
  completePayment: ({ status }) => status === "PROCESSING" || status === "FAILED",
  failPayment: ({ status }) => status === "PROCESSING",
  flagTransaction: ({ status }) => status === "PROCESSING",
  clearFlag: ({ status, openFlags }) => status !== "PROCESSING" && openFlags.length > 0,
  resolveTransaction: ({ status }) => status === "PROCESSING",
  releaseTransaction: ({ heldFor }) => heldFor.length > 0,
  refuseTransaction: ({ heldFor }) => heldFor.length > 0,
};

export function paymentCommandOf(given: PaymentStep, model: Model): Command {
  const { organizationId: caller, age } = given;
  const orders = ownedBy(given, model.transactions.values()).filter(({ payment }) => payment !== undefined);
  const fitting = given.isNear ? orders.filter(FITS[given.name]) : [];
  const order = (fitting.length > 0 ? fitting : orders).at(-1 - age);
  const id = order?.id ?? newTransactionId();
  const proof = (name: string | undefined) => (name === "own" ? `${given.name.slice(0, 1)}${String(id)}` : name);
  switch (given.name) {
    case "beginPayment":
      return { ...beginPayment(caller, id, given.differs ? 1 : 0), isAgain: given.isAgain };
    case "acceptPayment":
      return advancePayment("acceptPayment", caller, id);
    case "postponePayment":
      return advancePayment("postponePayment", caller, id, given.sends, given.isNear);
    case "completePayment": {
      const [movement, receipt] = [proof(given.movement), proof(given.receipt)];
      const amountCents =
        order === undefined || !given.differs
          ? order?.amountCents
          : toCents(Math.min(order.amountCents + 500, MAX_CENTS));
      return completePayment(caller, id, {
        ...(movement === undefined ? {} : { movement }),
        ...(receipt === undefined && movement !== undefined ? {} : { receipt: receipt ?? "r1" }),
        ...(given.isNear && amountCents !== undefined ? { amountCents } : {}),
        ...(given.isNear ? { phone: "254******678" as MaskedPhone } : {}),
      });
    }
    case "failPayment":
      return { ...failPayment(caller, id, given.failure), ...(given.isAgain ? { sends: given.sends } : {}) };
    case "flagTransaction":
      return flag(caller, id, given.flag);
    case "clearFlag":
      return clearFlag(caller, id, order?.openFlags[0] ?? given.flag);
    case "releaseTransaction":
    case "refuseTransaction":
      return decideHeld(given.name, caller, id);
    case "resolveTransaction": {
      const wanted = given.isAgreed ? model.waiting(caller).at(-1) : undefined;
      if (wanted !== undefined) return agreeing(wanted, given.person);
      const receipt = receiptNamed(proof(given.receipt) ?? "r1");
      const resolution: Resolution =
        given.resolution === "FAILED"
          ? { kind: "FAILED" }
          : given.resolution === "COMPLETED"
            ? { kind: "COMPLETED", receipt }
            : { kind: "MOVED", receipt, amountCents: toCents(7) };
      return resolve(caller, id, resolution, given);
    }
  }
}
