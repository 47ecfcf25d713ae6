import type { Account } from "../../../src/domain/account.js";
import type { RailAccountId } from "../../../src/domain/payment.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import { toCents } from "../../../src/domain/values/cents.js";
import { receiptNamed, SLOW_RAIL } from "../../support/names.js";
import { correctBook } from "../../support/operations/corrections.js";
import { setRailAccount } from "../../support/operations/rails.js";
import {
  advancePayment,
  beginPayment,
  clearFlag,
  completePayment,
  flag,
  resolve,
} from "../../support/operations/transactions.js";
import type { GivenBooks } from "./books.js";

/** An account at a rail that lets one person correct the book up to 5.00. No order is for it. */
const LENIENT = { railAccountId: "rail_lenient" as RailAccountId, resolveAloneMaxCents: toCents(500) };
const SET_ONCE = { accountsOfAll: "1:1", movesPlace: false };

/**
 * Orders to a rail in every state, what was reported late, and what operators decided. The rows are
 * the same each time. The numbers count from the first of them, without those about accounts at
 * rails.
 */
export async function makeOrders(books: GivenBooks, account: Account): Promise<void> {
  const order = (name: "mint" | "redeem", amount: string): Promise<Transaction> =>
    books.move(name, account, amount, { rail: SLOW_RAIL });
  await books.do((id) => setRailAccount(id, LENIENT));
  await books.move("mint", account, "10.00"); // 0

  const paid = await order("mint", "2.00"); // 1
  await books.do((id) => beginPayment(id, paid.id)); // 2
  await books.do((id) => advancePayment("acceptPayment", id, paid.id));
  await books.do((id) => completePayment(id, paid.id, { movement: "m1" })); // 3
  await books.do((id) => completePayment(id, paid.id, { movement: "m1", receipt: "r1" })); // 4

  const doubted = await order("redeem", "3.00"); // 5
  await books.do((id) => beginPayment(id, doubted.id)); // 6
  await books.do((id) => advancePayment("acceptPayment", id, doubted.id));
  await books.do((id) => flag(id, doubted.id)); // 7
  for (const person of ["amina", "brian"]) {
    await books.do((id) => resolve(id, doubted.id, { kind: "FAILED" }, { person })); // 8, 9
  }
  const late = { movement: "m2", receipt: "r2", amountCents: toCents(2_000) };
  await books.do((id) => completePayment(id, doubted.id, late)); // 10: leaves a shortfall
  await books.do((id) => correctBook("coverShortfall", id, { amountCents: 500, key: "cover" })); // 11

  await books.do((id) => correctBook("bookReceipt", id, { amountCents: 400, key: "book", target: "r3" })); // 12
  await books.do((id) => correctBook("allocate", id, { amountCents: 100, key: "allocate", target: account.id })); // 13
  await books.do((id) => setRailAccount(id, { ...LENIENT, resolveAloneMaxCents: toCents(199), facts: SET_ONCE }));
  for (const person of ["amina", "brian"]) {
    const given = { amountCents: 200, key: "return", target: "r4", person };
    await books.do((id) => correctBook("returnUnallocated", id, given)); // 14, 15
  }

  const waiting = await order("mint", "1.00"); // 16: stays pending
  await books.do((id) => flag(id, waiting.id)); // 17
  await books.do((id) => clearFlag(id, waiting.id, "OUTCOME_UNKNOWN")); // 18

  const unknown = await order("redeem", "1.00"); // 19: stays processing
  await books.do((id) => beginPayment(id, unknown.id)); // 20
  await books.do((id) => flag(id, unknown.id)); // 21
  const found = { kind: "COMPLETED", receipt: receiptNamed("r5") } as const;
  await books.do((id) => resolve(id, unknown.id, found)); // 22: waits for another person

  const paidOut = { amountCents: 10, key: "paid", target: "r6", account: account.id };
  await books.do((id) => correctBook("bookPayment", id, paidOut)); // 23
  await books.do((id) => correctBook("adjustMovement", id, { amountCents: 10, key: "adjust", target: "r3" })); // 24
  await books.do((id) => correctBook("explainTransfer", id, { amountCents: 10, key: "bank", target: "r7" })); // 25
}

/** The number of rows that `makeOrders` makes. */
export const ORDER_ROWS = 30;
