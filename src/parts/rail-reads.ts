import { refusedCredentialOf } from "../domain/rail-account.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { RailAccountStatus, RailReads } from "../operators/rails.js";
import { parseFields } from "../rails/fields.js";
import type { PaymentRail } from "../rails/rail.js";
import { WrongRailAccountError } from "../rails/rail-kind.js";
import { railNamed } from "../rails/rails.js";
import { UNKNOWN_PAYOUTS_NAMED_MAX } from "../settlement/limits.js";
import { countOf, tooManyUnknown } from "../settlement/unknown-payouts.js";
import { openRail } from "../startup/rails.js";
import { type Cell, cellOf, type Database } from "../storage/database.js";
import { openPaymentsOf, payments } from "../storage/rails/payments.js";
import { expiresSoon } from "../storage/rails/rail-account-directory.js";
import { type StoredRailAccount, storedRailAccount } from "../storage/rails/rail-accounts.js";

interface RailReadsOptions {
  readonly now: () => UnixMillis;
  /** The hosts at which live accounts may be, beside those of the rails. */
  readonly hosts: readonly string[];
  /** Whether the server has an address for callbacks. */
  readonly hasCallbacks: boolean;
}

/** Implements the port `RailReads`. */
export function railReads(database: Pick<Database, "cells">, options: RailReadsOptions): RailReads {
  return {
    async railAccount(organization, rail) {
      const cell = cellOf(database, organization);
      const account = await storedRailAccount(cell, organization.id, rail);
      return account === undefined ? undefined : statusOf(cell, account, options);
    },
  };
}

async function statusOf(cell: Cell, account: StoredRailAccount, options: RailReadsOptions): Promise<RailAccountStatus> {
  const { id, payouts } = account;
  const now = options.now();
  const stored = payments(cell);
  const unknown = await stored.unknownPayouts(id);
  const { rail, problem } = await openedRail(cell, account, options);
  const stopping = await tooManyUnknown(stored, { id, payouts, rail }, now);
  const named = await stored.listUnknownPayouts(id, UNKNOWN_PAYOUTS_NAMED_MAX);
  return {
    account,
    settings: settingsOf(account),
    credentialsExpireSoon: expiresSoon(account, now),
    openPayments: await openPaymentsOf(cell, id),
    unknownPayouts: countOf(unknown),
    oldestUnknownAt: unknown
      .flatMap(({ oldestBegunAt }) => oldestBegunAt ?? [])
      .toSorted((one, other) => one - other)[0],
    unknownTransactionIds: named.map(({ transactionId }) => transactionId),
    beginsPayouts: payouts !== "closed" && refusedCredentialOf(account) === undefined && stopping.length === 0,
    problem,
    depositsSince: account.depositsSince,
    depositsReadAt: account.depositsReadAt,
  };
}

/** Shows only settings that the rail takes: others may hold what somebody put there by mistake. */
function settingsOf({ rail, settings }: StoredRailAccount): string | undefined {
  const given = parseFields(settings);
  const isTaken = railNamed(rail)?.settingsProblems(given).length === 0;
  return isTaken ? JSON.stringify(given) : undefined;
}

async function openedRail(
  cell: Cell,
  account: StoredRailAccount,
  { hosts, hasCallbacks, now }: RailReadsOptions,
): Promise<{ readonly rail: PaymentRail | undefined; readonly problem: string | undefined }> {
  try {
    // Nothing is sent, so the address may be empty.
    const rail = await openRail(cell, account, { callbackUrl: hasCallbacks ? () => "" : undefined, hosts, now });
    return { rail, problem: undefined };
  } catch (error) {
    if (error instanceof WrongRailAccountError) return { rail: undefined, problem: error.problems.join(" ") };
    throw error;
  }
}
