import { randomUUID } from "node:crypto";

import { toUUID, type TypeId, typeidUnboxed } from "typeid-js";

import type { MoveMoney } from "../../src/domain/money/move-money.js";
import type { RailAccountId } from "../../src/domain/payment.js";
import { DIRECT_RAIL, type Rail } from "../../src/domain/transaction.js";
import { OPERATOR } from "../../src/domain/values/actor.js";
import { MAX_CENTS, toCents } from "../../src/domain/values/cents.js";
import type { AccountId, OrganizationId, TransactionId } from "../../src/domain/values/ids.js";
import type { Description, Metadata, Reference } from "../../src/domain/values/text.js";
import { callbackToken } from "../../src/rails/callback-token.js";
import { now } from "../../src/startup/clock.js";
import type { Database } from "../../src/storage/database.js";
import { setPayouts } from "../../src/storage/rails/change-rail-accounts.js";
import { beginDeposits } from "../../src/storage/rails/deposits.js";
import { railInbox } from "../../src/storage/rails/inbox.js";
import { reads } from "../../src/storage/reads.js";
import { giveRailAccount, MPESA } from "../rails/rail-account.js";
import type { HostileJob } from "./attack.js";

const BATCH = 1_000;
const STOPPED_PAYOUTS = 20_000;
/** The most that a transaction can have. */
const MESSAGES = 50;
const MESSAGE_CHARACTERS = 4_000;

/** What a hostile caller knows of payments. */
export type HostilePayments = Pick<
  HostileJob,
  "callbackToken" | "confirmationToken" | "validationToken" | "depositReference" | "paidTransactionId"
>;

export const NO_PAYMENTS: HostilePayments = {
  callbackToken: "",
  confirmationToken: "",
  validationToken: "",
  depositReference: "",
  paidTransactionId: "",
};

interface Place {
  organizationId: OrganizationId;
  accountIds: readonly string[];
  stubAddress: string;
  /** Of the tokens of callbacks. */
  secret: Buffer;
}

/**
 * Gives the organization an account at the stub, with payouts that are stopped and wait, and a mint
 * about which M-Pesa has said as much as is stored.
 */
export async function slowPayments(
  database: Database,
  { organizationId, accountIds, stubAddress, secret }: Place,
): Promise<HostilePayments> {
  const [cell] = database.cells;
  const railAccountId = await giveRailAccount(database, organizationId, stubAddress);
  const rail = MPESA as Rail;
  await setPayouts(cell, { organizationId, rail }, { payouts: "closed", reason: "bench", now: now() });
  const moved = moves({ organizationId, accountId: accountIds[0] as AccountId, railAccountId });
  const commit = async (commands: MoveMoney[]): Promise<void> => {
    const wrong = (await cell.committer.commit(commands, now())).find(({ kind }) => kind !== "done");
    if (wrong !== undefined) throw new Error(`a payment was ${wrong.kind}`, { cause: wrong });
  };
  await commit([moved("mint", DIRECT_RAIL, STOPPED_PAYOUTS)]);
  for (let count = 0; count < STOPPED_PAYOUTS; count += BATCH) {
    await commit(Array.from({ length: BATCH }, () => moved("redeem", rail, 1)));
  }
  const mint = moved("mint", rail, 1);
  await commit([mint]);
  const transactionId = mint.newTransactionId;
  for (let serial = 0; serial < MESSAGES; serial++) {
    const body = JSON.stringify({ serial, text: "x".repeat(MESSAGE_CHARACTERS) });
    await railInbox(cell).add({ transactionId, purpose: "collect", body }, now());
  }
  // The token is right, although no transaction has this id. Its messages are stored all the same.
  const token = callbackToken(secret, { cell: 0, purpose: "collect", uuid: randomUUID() });
  await beginDeposits(cell, railAccountId, now());
  const accountId = accountIds[0] as AccountId;
  const uuid = toUUID(railAccountId as string as TypeId<"rail">);
  return {
    callbackToken: token,
    confirmationToken: callbackToken(secret, { cell: 0, purpose: "confirmation", uuid }),
    validationToken: callbackToken(secret, { cell: 0, purpose: "validation", uuid }),
    depositReference: (await reads(cell).account(organizationId, accountId))?.depositReference ?? "",
    paidTransactionId: transactionId,
  };
}

/** Returns a function that makes movements of whole shillings. */
function moves({
  organizationId,
  accountId,
  railAccountId,
}: {
  organizationId: OrganizationId;
  accountId: AccountId;
  railAccountId: RailAccountId;
}): (name: MoveMoney["name"], rail: Rail, shillings: number) => MoveMoney {
  const cents = toCents(100);
  const payable = { minCents: cents, maxCents: MAX_CENTS, stepCents: cents };
  const railTerms = { railAccountId, payable, phoneNumbers: /^\+/, payerPhoneNumber: undefined, phoneCoolingMillis: 0 };
  let serial = 0;
  return (name, rail, shillings) => ({
    name,
    organizationId,
    actor: OPERATOR,
    newTransactionId: typeidUnboxed("txn") as string as TransactionId,
    accountId,
    amountCents: toCents(shillings * cents),
    reference: `slow-${String((serial += 1))}` as Reference,
    description: "" as Description,
    metadata: new Map() as ReadonlyMap<string, string> as Metadata,
    rail,
    railTerms: rail === DIRECT_RAIL ? undefined : railTerms,
    idempotencyKey: undefined,
  });
}
