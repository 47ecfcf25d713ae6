import { type Account, type AccountHolder, accountOf, type LedgerAccount, type Person } from "../account.js";
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
import { freeReference } from "../deposits/free-reference.js";
import { balancesOf } from "../journal.js";
import { DEFAULT_TIER } from "../limits/limits.js";
import { NO_CENTS } from "../values/cents.js";
import type { AccountId, OrganizationId } from "../values/ids.js";
import { NO_REASON } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

export const createAccount: Operation<CreateAccount, Account> = { lookup, decide };

function lookup({ organizationId, userId, idempotencyKey, depositReferences }: CreateAccount, rows: Lookup): void {
  rows.need("accountOfUser", { organizationId, name: userId });
  for (const name of depositReferences) rows.need("accountWithDepositReference", { organizationId, name });
  if (idempotencyKey !== undefined) rows.need("idempotencyKeyOfAccount", { organizationId, name: idempotencyKey });
}

/**
 * Creates an account with a balance of zero. The same user_id with the content that the account has
 * now is a replay, as long as the account is open: a user whose account is closed gets a new one.
 *
 * Refuses, in this order: IDEMPOTENCY_KEY_REUSED, ACCOUNT_ALREADY_EXISTS.
 */
function decide(book: Book, command: CreateAccount, now: UnixMillis): Decision<Account> {
  const { organizationId, userId, idempotencyKey } = command;

  if (idempotencyKey !== undefined) {
    const resourceId = book.resourceOfIdempotencyKey(organizationId, idempotencyKey);
    if (resourceId !== undefined) {
      const earlier = accountWithHolder(book, organizationId, resourceId as AccountId);
      return earlier?.holder.person?.userId === userId && differingFields(command, earlier.holder).length === 0
        ? replay(earlier.account)
        : refuse({ reason: "IDEMPOTENCY_KEY_REUSED" });
    }
  }

  const existingId = book.accountHolderOfUser(organizationId, userId)?.accountId;
  const existing = existingId === undefined ? undefined : accountWithHolder(book, organizationId, existingId);
  if (existing !== undefined) {
    const differing = differingFields(command, existing.holder);
    return differing.length === 0
      ? replay(existing.account, putIdempotencyKey(idempotencyKey, existing.account, now))
      : refuse({ reason: "ACCOUNT_ALREADY_EXISTS", accountId: existing.account.id, differingFields: differing });
  }

  const account: LedgerAccount = {
    id: command.newAccountId,
    organizationId,
    status: "ACTIVE",
    statusNote: NO_REASON,
    availableCents: NO_CENTS,
    heldCents: NO_CENTS,
    openPayments: 0,
    tier: DEFAULT_TIER,
    depositReference: freeReference(book, command),
    usage: undefined,
    createdAt: now,
    updatedAt: now,
    lastSeq: 0,
  };
  const person: Person = { userId, phoneNumber: command.phoneNumber, email: command.email };
  const holder: AccountHolder = {
    accountId: account.id,
    organizationId,
    person,
    isOpen: true,
    phoneNumberChangedAt: undefined,
    emailChangedAt: undefined,
  };
  return {
    kind: "effect",
    resource: accountOf(account, holder, []),
    effect: {
      entries: [
        {
          organizationId,
          accountId: account.id,
          transactionId: undefined,
          freezeId: undefined,
          kind: "account.created",
          posting: undefined,
          balancesAfter: balancesOf(account),
          detail: account.depositReference,
          actor: command.actor,
          reason: NO_REASON,
          recordedAt: now,
        },
      ],
      puts: [
        { table: "accounts", row: account },
        { table: "accountHolders", row: holder },
        ...putIdempotencyKey(idempotencyKey, account, now),
      ],
    },
  };
}

interface Existing {
  readonly account: Account;
  readonly holder: AccountHolder;
}

function accountWithHolder(book: Book, organizationId: OrganizationId, id: AccountId): Existing | undefined {
  const account = book.account(organizationId, id);
  const holder = book.accountHolder(organizationId, id);
  if (account === undefined || holder === undefined) return undefined;
  return { account: accountOf(account, holder, book.standingFreezes(organizationId, id)), holder };
}

// What UpdateAccount replaced is not kept, so only the present values can be compared.
function differingFields({ phoneNumber, email }: CreateAccount, { person }: AccountHolder): string[] {
  return [
    ...(phoneNumber === person?.phoneNumber ? [] : ["phone_number"]),
    ...(email === person?.email ? [] : ["email"]),
  ];
}
