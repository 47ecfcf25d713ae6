import { typeidUnboxed } from "typeid-js";

import { maskNumber } from "../../../src/domain/destination.js";
import type { TransactionType } from "../../../src/domain/transaction.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { TransactionId } from "../../../src/domain/values/ids.js";
import { parsePhoneNumber, type PhoneNumber } from "../../../src/domain/values/phone-number.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { uuidOf } from "../../../src/rails/callback-token.js";
import type { OpenPayment, RailOrder } from "../../../src/rails/order.js";
import type { NewQuestion } from "../../../src/rails/rail.js";
import { valid } from "../../support/names.js";

/** 22 November 2026, 13:15:00 in Nairobi. */
export const NOW = toUnixMillis(Date.UTC(2026, 10, 22, 10, 15, 0));

export const PHONE = phone("0708374149");

export function phone(text: string): PhoneNumber {
  return valid(parsePhoneNumber(text));
}

/** A payment that has not ended, so that its phone number is still stored. */
export type BegunOrder = RailOrder & OpenPayment;

/** A payment of 100.00 that was begun now. */
export function payment(direction: TransactionType, given: Partial<BegunOrder> = {}): BegunOrder {
  return {
    transactionId: typeidUnboxed("txn") as string as TransactionId,
    direction,
    amountCents: toCents(100_00),
    numberKind: "PHONE",
    number: PHONE,
    maskedNumber: maskNumber(given.numberKind ?? "PHONE", given.number ?? PHONE),
    acceptedAt: NOW,
    begunAt: NOW,
    railReference: undefined,
    advances: 0,
    ...given,
  };
}

/** The question of a query, which a test finds by the transaction. */
export function questionAbout({ transactionId }: Pick<OpenPayment, "transactionId">): NewQuestion {
  return () => Promise.resolve(uuidOf(transactionId));
}
