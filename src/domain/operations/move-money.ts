import type { LedgerAccount } from "../account.js";
import { MAX_SUM_CENTS } from "../book.js";
import type { MoveMoney } from "../commands.js";
import {
  type Book,
  type Decision,
  type Lookup,
  type Operation,
  putIdempotencyKey,
  refuse,
  replay,
} from "../decision.js";
import { balancesOf, holdPosting, mintPosting, postedTo, type Posting, redeemPosting } from "../journal.js";
import type { Refusal } from "../refusal.js";
import { DIRECT_RAIL, type Transaction, type TransactionType } from "../transaction.js";
import { type Cents, MAX_CENTS } from "../values/cents.js";
import type { TransactionId } from "../values/ids.js";
import { NO_REASON, sameMetadata } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

export const moveMoney: Operation<MoveMoney, Transaction> = { lookup, decide };

function lookup(command: MoveMoney, rows: Lookup): void {
  const { organizationId, accountId, reference, idempotencyKey } = command;
  if (command.rail === DIRECT_RAIL) rows.account(accountId);
  else rows.accountHolder(accountId);
  rows.transactionWithReference(organizationId, reference);
  if (idempotencyKey !== undefined) rows.idempotencyKey(organizationId, idempotencyKey);
}

/**
 * Mints to an account or redeems from it. On the direct rail the transaction is COMPLETED at once.
 * On any other rail it is PENDING, and the KESC of a redemption is held. The same reference with
 * the same content is a replay.
 *
 * Refuses, in this order: IDEMPOTENCY_KEY_REUSED, REFERENCE_ALREADY_USED, ACCOUNT_NOT_FOUND,
 * ACCOUNT_CLOSED, ACCOUNT_FROZEN, PHONE_NUMBER_MISSING (not on the direct rail), then
 * LIMIT_EXCEEDED (mint) or INSUFFICIENT_FUNDS (redeem).
 */
function decide(book: Book, command: MoveMoney, now: UnixMillis): Decision<Transaction> {
  const repeated = decideRepeat(book, command, now);
  if (repeated !== undefined) return repeated;

  const account = book.account(command.organizationId, command.accountId);
  if (account === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId: command.accountId });
  const refusal = refusalToMove(book, account, command);
  if (refusal !== undefined) return refuse(refusal);

  const completed = command.rail === DIRECT_RAIL;
  const posting = postingOf(command.name, { completed, amountCents: command.amountCents });
  const posted: LedgerAccount =
    posting === undefined ? account : { ...account, ...postedTo(account, posting), updatedAt: now };
  const transaction: Transaction = {
    id: command.newTransactionId,
    organizationId: command.organizationId,
    accountId: account.id,
    type: TYPES[command.name],
    status: completed ? "COMPLETED" : "PENDING",
    statusReason: NO_REASON,
    amountCents: command.amountCents,
    reference: command.reference,
    description: command.description,
    metadata: command.metadata,
    rail: command.rail,
    createdAt: now,
    updatedAt: now,
    completedAt: completed ? now : undefined,
  };
  return {
    kind: "effect",
    resource: transaction,
    effect: {
      entries: [
        {
          organizationId: command.organizationId,
          accountId: account.id,
          transactionId: transaction.id,
          freezeId: undefined,
          kind: completed ? "transaction.completed" : "transaction.pending",
          posting,
          balancesAfter: balancesOf(posted),
          actor: command.actor,
          reason: NO_REASON,
          recordedAt: now,
        },
      ],
      puts: [
        { table: "accounts", row: posted },
        { table: "transactions", row: transaction },
        ...putIdempotencyKey(command.idempotencyKey, transaction, now),
      ],
    },
  };
}

const TYPES = { mint: "MINT", redeem: "REDEEM" } as const satisfies Record<MoveMoney["name"], TransactionType>;

function decideRepeat(book: Book, command: MoveMoney, now: UnixMillis): Decision<Transaction> | undefined {
  const { organizationId, idempotencyKey, reference } = command;

  if (idempotencyKey !== undefined) {
    const resourceId = book.resourceOfIdempotencyKey(organizationId, idempotencyKey);
    if (resourceId !== undefined) {
      const earlier = book.transaction(organizationId, resourceId as TransactionId);
      // The reference is not compared. Idempotency keys serve callers that generate a new reference
      // for each retry.
      return earlier !== undefined && differingFields(command, earlier).length === 0
        ? replay(earlier)
        : refuse({ reason: "IDEMPOTENCY_KEY_REUSED" });
    }
  }

  const existing = book.transactionWithReference(organizationId, reference);
  if (existing === undefined) return undefined;
  const differing = differingFields(command, existing);
  return differing.length === 0
    ? replay(existing, putIdempotencyKey(idempotencyKey, existing, now))
    : refuse({ reason: "REFERENCE_ALREADY_USED", transactionId: existing.id, differingFields: differing });
}

function differingFields(command: MoveMoney, existing: Transaction): string[] {
  return [
    ...(TYPES[command.name] === existing.type ? [] : ["type"]),
    ...(command.accountId === existing.accountId ? [] : ["account_id"]),
    ...(command.amountCents === existing.amountCents ? [] : ["amount"]),
    ...(command.description === existing.description ? [] : ["description"]),
    ...(sameMetadata(command.metadata, existing.metadata) ? [] : ["metadata"]),
  ];
}

function refusalToMove(book: Book, account: LedgerAccount, command: MoveMoney): Refusal | undefined {
  const { id: accountId, organizationId, status, availableCents, heldCents } = account;
  const { amountCents, rail } = command;
  if (status === "CLOSED") return { reason: "ACCOUNT_CLOSED", accountId };
  if (status === "FROZEN") return { reason: "ACCOUNT_FROZEN", accountId };
  if (rail !== DIRECT_RAIL && book.accountHolder(organizationId, accountId)?.person === undefined) {
    return { reason: "PHONE_NUMBER_MISSING", accountId };
  }
  if (command.name === "mint") {
    if (availableCents + heldCents + amountCents > MAX_CENTS) {
      return { reason: "LIMIT_EXCEEDED", accountId, limitCents: MAX_CENTS };
    }
    // The reserve is at least as large as the sum of all available balances, unless shillings are
    // missing. So both are compared with the limit.
    const { reserve, available } = book.bookOf(organizationId).sums;
    return Math.max(reserve, available) > MAX_SUM_CENTS - amountCents
      ? { reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: MAX_SUM_CENTS }
      : undefined;
  }
  return amountCents > availableCents
    ? { reason: "INSUFFICIENT_FUNDS", availableCents, requestedCents: amountCents }
    : undefined;
}

function postingOf(
  name: MoveMoney["name"],
  { completed, amountCents }: { completed: boolean; amountCents: Cents },
): Posting | undefined {
  if (name === "redeem") return completed ? redeemPosting(amountCents) : holdPosting(amountCents);
  return completed ? mintPosting(amountCents) : undefined;
}
