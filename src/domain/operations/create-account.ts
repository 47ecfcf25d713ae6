import type { Account } from "../account.js";
import type { CreateAccount } from "../commands.js";
import {
  type Book,
  type Decision,
  type Lookup,
  type Operation,
  putIdempotencyKey,
  refuse,
  replay,
} from "../decision.js";
import { NO_CENTS } from "../values/cents.js";
import type { AccountId } from "../values/ids.js";
import { NO_REASON } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

export const createAccount: Operation<CreateAccount, Account> = { lookup, decide };

function lookup({ organizationId, userId, idempotencyKey }: CreateAccount, rows: Lookup): void {
  rows.accountOfUser(organizationId, userId);
  if (idempotencyKey !== undefined) rows.idempotencyKey(organizationId, idempotencyKey);
}

/**
 * Creates an account with a balance of zero. The same user_id with the same content is a replay.
 *
 * Refuses, in this order: IDEMPOTENCY_KEY_REUSED, ACCOUNT_ALREADY_EXISTS.
 */
function decide(book: Book, command: CreateAccount, now: UnixMillis): Decision<Account> {
  const { organizationId, userId, idempotencyKey } = command;

  if (idempotencyKey !== undefined) {
    const resourceId = book.resourceOfIdempotencyKey(organizationId, idempotencyKey);
    if (resourceId !== undefined) {
      const earlier = book.account(organizationId, resourceId as AccountId);
      return earlier?.userId === userId && differingFields(command, earlier).length === 0
        ? replay(earlier)
        : refuse({ reason: "IDEMPOTENCY_KEY_REUSED" });
    }
  }

  const existing = book.accountOfUser(organizationId, userId);
  if (existing !== undefined) {
    const differing = differingFields(command, existing);
    return differing.length === 0
      ? replay(existing, putIdempotencyKey(idempotencyKey, existing, now))
      : refuse({ reason: "ACCOUNT_ALREADY_EXISTS", accountId: existing.id, differingFields: differing });
  }

  const account: Account = {
    id: command.newAccountId,
    organizationId,
    userId,
    phoneNumber: command.phoneNumber,
    email: command.email,
    status: "ACTIVE",
    statusReason: NO_REASON,
    availableCents: NO_CENTS,
    heldCents: NO_CENTS,
    createdAt: now,
    updatedAt: now,
  };
  return {
    kind: "effect",
    resource: account,
    effect: {
      entries: [
        {
          organizationId,
          accountId: account.id,
          transactionId: undefined,
          kind: "account.created",
          posting: undefined,
          availableAfterCents: NO_CENTS,
          heldAfterCents: NO_CENTS,
          actor: command.actor,
          reason: NO_REASON,
          recordedAt: now,
        },
      ],
      puts: [{ table: "accounts", row: account }, ...putIdempotencyKey(idempotencyKey, account, now)],
    },
  };
}

function differingFields(command: CreateAccount, existing: Account): string[] {
  return [
    ...(command.phoneNumber === existing.phoneNumber ? [] : ["phone_number"]),
    ...(command.email === existing.email ? [] : ["email"]),
  ];
}
