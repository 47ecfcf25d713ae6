import type { Acted } from "../../../src/domain/authority.js";
import type { Deposit } from "../../../src/domain/deposit.js";
import type { ReceivedShillings } from "../../../src/domain/deposits/receive-deposit.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { DepositId, TransactionId } from "../../../src/domain/values/ids.js";
import type { MaskedPhone } from "../../../src/domain/values/masked-phone.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { depositReference } from "../../support/names.js";
import {
  assignDeposit,
  endReturn,
  receiveDeposit,
  recordDeposit,
  returnDeposit,
  returnThroughRail,
  reverseDeposit,
  unassignDeposit,
} from "../../support/operations/deposits.js";
import { setRailAccount } from "../../support/operations/rails.js";
import { mint } from "../../support/operations/transactions.js";
import type { GivenBooks } from "./books.js";

const PAYER = { phone: "254******678" as MaskedPhone, paidAt: toUnixMillis(1_700_000_000_000) };

/**
 * Deposits in every state, by every way. The rows are the same each time, and the numbers are their
 * seqs in a new book. `rail` differs where the cell has accounts at rails already.
 */
export async function makeDeposits(books: GivenBooks, rail: Parameters<typeof setRailAccount>[1] = {}): Promise<void> {
  const dina = await books.createAccount("dina", { depositReferences: [depositReference(0)] }); // 3
  const eric = await books.createAccount("eric", { depositReferences: [depositReference(1)] }); // 4
  await books.do((id) => setRailAccount(id, { resolveAloneMaxCents: toCents(900), ...rail })); // 5
  const receive = async (receipt: string, typed = ""): Promise<DepositId> =>
    received(await books.do((id) => receiveDeposit(id, { ...PAYER, receipt, typed }))).id;

  await receive("d1", depositReference(0)); // 6, 7: credited at once
  await receive("d2", "0712345678"); // 8: waits
  const third = await receive("d3"); // 9
  const wrong = acted(await books.do((id) => assignDeposit(id, third, eric.id))); // 10
  await books.do((id) => unassignDeposit(id, third, creditOf(wrong))); // 11
  const right = acted(await books.do((id) => assignDeposit(id, third, dina.id))); // 12
  await books.do((id) => reverseDeposit(id, third, { transactionId: creditOf(right), receipt: "b3" })); // 13
  const byHand = acted(await books.do((id) => recordDeposit(id, { receipt: "d4" }))); // 14
  await books.do((id) => returnDeposit(id, byHand.id, "b4")); // 15

  const ofTwo = await books.do((id) => receiveDeposit(id, { receipt: "d5", amountCents: toCents(2_000) })); // 16
  for (const person of ["amina", "brian"]) {
    await books.do((id) => reverseDeposit(id, received(ofTwo).id, { receipt: "b5", person })); // 17, 18
  }

  await receive("d6"); // 19
  const claim = { accountId: dina.id, amount: "5.00", reference: "claimed", receipt: "d6" };
  await books.do((organizationId) => mint({ organizationId, ...claim })); // 20

  const frozen = acted(await books.do((id) => recordDeposit(id, { receipt: "d7", accountId: eric.id }))); // 21, 22
  await books.freeze(eric, "FRAUD", "order 13"); // 23
  await books.do((id) => reverseDeposit(id, frozen.id, { transactionId: creditOf(frozen), receipt: "b7" })); // 24

  const spent = acted(await books.do((id) => recordDeposit(id, { receipt: "d8", accountId: dina.id }))); // 25, 26
  await books.move("redeem", dina, "12.00"); // 27
  await books.do((id) => reverseDeposit(id, spent.id, { transactionId: creditOf(spent), receipt: "b8" })); // 28
}

/** Returns that the rail was asked for, after `makeDeposits`. The numbers are their seqs, too. */
export async function makeReturns(books: GivenBooks): Promise<void> {
  const receive = async (receipt: string): Promise<DepositId> =>
    received(await books.do((id) => receiveDeposit(id, { ...PAYER, receipt }))).id;
  const first = await receive("d9"); // 29
  const refused = acted(await books.do((id) => returnThroughRail(id, first))); // 30
  await books.do(() => endReturn(refused)); // 31: waits again
  await books.do((id) => returnThroughRail(id, first)); // 32: on its way
  const second = await receive("d10"); // 33
  const back = acted(await books.do((id) => returnThroughRail(id, second))); // 34
  await books.do(() => endReturn(back, "b10")); // 35
}

export function received({ deposit }: ReceivedShillings): Deposit {
  if (deposit === undefined) throw new Error("the shillings became no deposit");
  return deposit;
}

export function acted({ resource }: Acted<Deposit>): Deposit {
  if (resource === undefined) throw new Error("it waits for a second person");
  return resource;
}

export function creditOf({ transactionId }: Deposit): TransactionId {
  if (transactionId === undefined) throw new Error("nothing credits the deposit");
  return transactionId;
}
