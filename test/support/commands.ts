import { typeid } from "typeid-js";

import type {
  CancelTransaction,
  ChangeAccountStatus,
  CreateAccount,
  EraseAccount,
  MoveMoney,
  ReverseTransaction,
  UpdateAccount,
} from "../../src/domain/commands.js";
import type { Actor } from "../../src/domain/journal.js";
import { DIRECT_RAIL, type Rail } from "../../src/domain/transaction.js";
import { parseAmount } from "../../src/domain/values/cents.js";
import { NO_EMAIL } from "../../src/domain/values/email-address.js";
import type { AccountId, OrganizationId, TransactionId } from "../../src/domain/values/ids.js";
import type { Parsed } from "../../src/domain/values/parsed.js";
import type { PhoneNumber } from "../../src/domain/values/phone-number.js";
import {
  NO_REASON,
  parseDescription,
  parseIdempotencyKey,
  parseMetadata,
  parseReference,
  parseUserId,
} from "../../src/domain/values/text.js";
import { toUnixMillis } from "../../src/domain/values/time.js";

// Builders of commands with sensible defaults: a test says only what matters to it.

export const TEST_ACTOR = "key_of_a_test" as Actor;
/**
 * A rail on which no transaction completes by itself: mints stay PENDING, redemptions stay held.
 */
export const SLOW_RAIL = "slow" as Rail;
export const NO_DEADLINE = toUnixMillis(Number.MAX_SAFE_INTEGER);

/** The parsed value. Throws where the test's own input is wrong. */
export function valid<T>(outcome: Parsed<T>): T {
  if (!outcome.ok) throw new Error(`the test's own value ${outcome.problem}`);
  return outcome.value;
}

export function newAccountId(): AccountId {
  return typeid("acc").toString() as string as AccountId;
}

export function newTransactionId(): TransactionId {
  return typeid("txn").toString() as string as TransactionId;
}

export function newOrganizationId(): OrganizationId {
  return typeid("org").toString() as string as OrganizationId;
}

export function createAccount(
  organizationId: OrganizationId,
  userId: string,
  given: Partial<CreateAccount> & { key?: string } = {},
): CreateAccount {
  const { key, ...rest } = given;
  return {
    name: "createAccount",
    organizationId,
    actor: TEST_ACTOR,
    newAccountId: newAccountId(),
    userId: valid(parseUserId(userId)),
    phoneNumber: "+254712345678" as PhoneNumber,
    email: NO_EMAIL,
    idempotencyKey: key === undefined ? undefined : valid(parseIdempotencyKey(key)),
    ...rest,
  };
}

export interface Movement {
  readonly organizationId: OrganizationId;
  readonly accountId: AccountId;
  readonly amount: string;
  readonly reference: string;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly key?: string;
  readonly rail?: MoveMoney["rail"];
}

export function mint(movement: Movement): MoveMoney {
  return moveMoney("mint", movement);
}

export function redeem(movement: Movement): MoveMoney {
  return moveMoney("redeem", movement);
}

function moveMoney(name: MoveMoney["name"], movement: Movement): MoveMoney {
  return {
    name,
    organizationId: movement.organizationId,
    actor: TEST_ACTOR,
    newTransactionId: newTransactionId(),
    accountId: movement.accountId,
    amountCents: valid(parseAmount(movement.amount)),
    reference: valid(parseReference(movement.reference)),
    description: valid(parseDescription(movement.description ?? "")),
    metadata: valid(parseMetadata(new Map(Object.entries(movement.metadata ?? {})))),
    rail: movement.rail ?? DIRECT_RAIL,
    idempotencyKey: movement.key === undefined ? undefined : valid(parseIdempotencyKey(movement.key)),
  };
}

export function changeStatus(
  name: ChangeAccountStatus["name"],
  organizationId: OrganizationId,
  accountId: AccountId,
): ChangeAccountStatus {
  return { name, organizationId, actor: TEST_ACTOR, accountId, reason: NO_REASON };
}

export function updateAccount(
  organizationId: OrganizationId,
  accountId: AccountId,
  changes: Partial<Pick<UpdateAccount, "phoneNumber" | "email">> = { phoneNumber: "+254733111222" as PhoneNumber },
): UpdateAccount {
  const { phoneNumber, email } = changes;
  return { name: "updateAccount", organizationId, actor: TEST_ACTOR, accountId, phoneNumber, email };
}

export function eraseAccount(organizationId: OrganizationId, accountId: AccountId): EraseAccount {
  return { name: "eraseAccount", organizationId, actor: TEST_ACTOR, accountId, reason: NO_REASON };
}

/** Reverses a transaction, without words unless told otherwise. */
export function reverse(
  organizationId: OrganizationId,
  transactionId: TransactionId,
  given: Pick<Partial<Movement>, "description" | "metadata" | "key"> = {},
): ReverseTransaction {
  return {
    name: "reverseTransaction",
    organizationId,
    actor: TEST_ACTOR,
    transactionId,
    newTransactionId: newTransactionId(),
    description: valid(parseDescription(given.description ?? "")),
    metadata: valid(parseMetadata(new Map(Object.entries(given.metadata ?? {})))),
    idempotencyKey: given.key === undefined ? undefined : valid(parseIdempotencyKey(given.key)),
  };
}

export function cancel(organizationId: OrganizationId, transactionId: TransactionId): CancelTransaction {
  return { name: "cancelTransaction", organizationId, actor: TEST_ACTOR, transactionId, reason: NO_REASON };
}
