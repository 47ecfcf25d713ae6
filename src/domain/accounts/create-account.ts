import { type Account, type AccountHolder, accountOf, type LedgerAccount, type Person } from "../account.js";
import type { Commanded } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, putIdempotencyKey } from "../decision.js";
import { balancesOf } from "../journal.js";
import { DEFAULT_TIER } from "../limits/limits.js";
import { type Comparison, decideRepeat } from "../repeat.js";
import { NO_CENTS } from "../values/cents.js";
import type { DepositReference } from "../values/deposit-reference.js";
import type { EmailAddress } from "../values/email-address.js";
import type { AccountId, OrganizationId } from "../values/ids.js";
import type { PhoneNumber } from "../values/phone-number.js";
import { type IdempotencyKey, NO_REASON, type UserId } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

export interface CreateAccount extends Commanded {
  readonly name: "createAccount";
  readonly newAccountId: AccountId;
  readonly userId: UserId;
  readonly phoneNumber: PhoneNumber;
  readonly email: EmailAddress;
  /** Random ones: the account gets the first that is free. */
  readonly depositReferences: readonly DepositReference[];
  readonly idempotencyKey: IdempotencyKey | undefined;
}

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
  const existingId = book.accountHolderOfUser(organizationId, userId)?.accountId;
  const repeated = decideRepeat(
    COMPARISON,
    { book, command, now },
    {
      withId: (id) => accountWithHolder(book, organizationId, id as AccountId),
      existing: existingId && accountWithHolder(book, organizationId, existingId),
      refusal: ({ id: accountId }, differingFields) => ({
        reason: "ACCOUNT_ALREADY_EXISTS",
        accountId,
        differingFields,
      }),
    },
  );
  if (repeated !== undefined) return repeated;

  const account: LedgerAccount = {
    id: command.newAccountId,
    organizationId,
    status: "ACTIVE",
    statusNote: NO_REASON,
    availableCents: NO_CENTS,
    heldCents: NO_CENTS,
    openPayments: 0,
    tier: DEFAULT_TIER,
    depositReference: command.depositReferences.find(
      (name) => book.accountWithDepositReference(organizationId, name) === undefined,
    ),
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

function accountWithHolder(book: Book, organizationId: OrganizationId, id: AccountId): Account | undefined {
  const account = book.account(organizationId, id);
  const holder = book.accountHolder(organizationId, id);
  return account && holder && accountOf(account, holder, book.standingFreezes(organizationId, id));
}

// What UpdateAccount replaced is not kept, so only the present values can be compared.
const COMPARISON: Comparison<CreateAccount, Account> = {
  depositReferences: "no content",
  userId: ["user_id", ({ userId }, { person }) => userId === person?.userId],
  phoneNumber: ["phone_number", ({ phoneNumber }, { person }) => phoneNumber === person?.phoneNumber],
  email: ["email", ({ email }, { person }) => email === person?.email],
};
