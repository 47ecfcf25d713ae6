import type { Account, AccountStatus } from "../domain/account.js";
import type { Freeze } from "../domain/freeze.js";
import type { Balances } from "../domain/journal.js";
import { DEFAULT_TIER } from "../domain/limits/limits.js";
import { NO_CENTS } from "../domain/values/cents.js";
import type { AccountId, OrganizationId } from "../domain/values/ids.js";
import { NO_REASON } from "../domain/values/text.js";
import type { AsOf, FreezesPage, HistoryReads, InTurn, Position, SumsAt, WalkedRow } from "./ports.js";

/** The reads of one organization's past. */
export interface History {
  readonly organizationId: OrganizationId;
  readonly reads: HistoryReads;
  readonly inTurn: InTurn;
}

export const NO_BALANCES: Balances = { availableCents: NO_CENTS, heldCents: NO_CENTS };

export function positionOf({ organizationId, reads, inTurn }: History, asOf: AsOf): Promise<Position> {
  return inTurn(() => reads.position(organizationId, asOf));
}

/**
 * Resolves with the account's last row up to `upToSeq`, or with undefined if the account did not
 * exist then. Takes one step where the marks are complete, and more where they are missing.
 */
export async function rowBefore(
  { organizationId, reads, inTurn }: History,
  { accountId, upToSeq }: { readonly accountId: AccountId; readonly upToSeq: number },
): Promise<WalkedRow | undefined> {
  let from: number | undefined;
  do {
    const walk = { accountId, upToSeq, from };
    const step = await inTurn(() => reads.balances(organizationId, walk));
    if (step.found !== undefined) return step.found;
    from = step.next;
  } while (from !== undefined);
  return undefined;
}

/**
 * Resolves with an account as it was after the row `seq` of its book, or with undefined if it did
 * not exist then. The status, the balances, the freezes and the tier are of then, and `updatedAt`
 * is the time of its last row then. The note of the status is empty.
 */
export async function accountAsOf(
  history: History,
  { account, seq }: { readonly account: Account; readonly seq: number },
): Promise<Account | undefined> {
  const { id: accountId } = account;
  const last = await rowBefore(history, { accountId, upToSeq: seq });
  if (last === undefined) return undefined;
  const freezes = await freezesAt(history, { accountId, seq });
  return {
    ...account,
    status: await statusAt(history, { account, seq, freezes }),
    statusNote: NO_REASON,
    availableCents: last.availableCents,
    heldCents: last.heldCents,
    tier: (await history.inTurn(() => history.reads.tier(history.organizationId, { accountId, seq }))) ?? DEFAULT_TIER,
    updatedAt: last.recordedAt,
    freezes,
  };
}

async function freezesAt(
  { organizationId, reads, inTurn }: History,
  { accountId, seq }: { readonly accountId: AccountId; readonly seq: number },
): Promise<readonly Freeze[]> {
  const freezes: Freeze[] = [];
  let afterSeq: number | undefined = 0;
  while (afterSeq !== undefined) {
    const at: { accountId: AccountId; seq: number; afterSeq: number } = { accountId, seq, afterSeq };
    const page: FreezesPage = await inTurn(() => reads.freezes(organizationId, at));
    freezes.push(...page.freezes);
    afterSeq = page.nextAfterSeq;
  }
  return freezes;
}

async function statusAt(
  { organizationId, reads, inTurn }: History,
  { account, seq, freezes }: { readonly account: Account; readonly seq: number; readonly freezes: readonly Freeze[] },
): Promise<AccountStatus> {
  if (freezes.length > 0) return "FROZEN";
  // Closing is final, so an account that is open now was never closed.
  if (account.status !== "CLOSED") return "ACTIVE";
  let from: number | undefined;
  do {
    const walk = { accountId: account.id, from };
    const step = await inTurn(() => reads.closing(organizationId, walk));
    if (step.found !== undefined) return step.found.seq <= seq ? "CLOSED" : "ACTIVE";
    from = step.next;
  } while (from !== undefined);
  return "ACTIVE";
}

/** Resolves with the sums of the book after its row `seq`. */
export async function sumsAsOf({ organizationId, reads, inTurn }: History, seq: number): Promise<SumsAt> {
  let from: SumsAt | undefined;
  do {
    const at = { seq, from };
    from = await inTurn(() => reads.sums(organizationId, at));
  } while (from.seq < seq);
  return from;
}
