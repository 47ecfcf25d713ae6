import { randomInt } from "node:crypto";

import { typeidUnboxed } from "typeid-js";

import { type DepositReference, depositReferenceOf } from "../domain/values/deposit-reference.js";
import type { AccountId, DestinationId, FreezeId, TransactionId, WebhookEndpointId } from "../domain/values/ids.js";

/**
 * With a million accounts in a book, one of eight references is taken: all eight are so for one new
 * account of 17 million.
 */
const CANDIDATES = 8;

/** Returns random references: a new account gets the first that is free. */
function newDepositReferences(): readonly DepositReference[] {
  return Array.from({ length: CANDIDATES }, () => depositReferenceOf(randomInt(2_000_000, 10_000_000)));
}

export function newTransactionId(): TransactionId {
  return typeidUnboxed("txn") as string as TransactionId;
}

/** What makes the ids of new resources. */
export const NEW_IDS = {
  newAccountId: (): AccountId => typeidUnboxed("acc") as string as AccountId,
  newDepositReferences,
  newFreezeId: (): FreezeId => typeidUnboxed("frz") as string as FreezeId,
  newDestinationId: (): DestinationId => typeidUnboxed("dst") as string as DestinationId,
  newTransactionId,
  newWebhookEndpointId: (): WebhookEndpointId => typeidUnboxed("whe") as string as WebhookEndpointId,
};
