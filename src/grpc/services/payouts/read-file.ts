import { createHash } from "node:crypto";

import { slicesOf } from "../../../../runtime/slices.js";
import { DESTINATION_KINDS } from "../../../domain/destination.js";
import type { MoveMoney } from "../../../domain/money/move-money.js";
import type { RailTerms } from "../../../domain/payment.js";
import type { Rail, Transaction } from "../../../domain/transaction.js";
import type { TransactionId } from "../../../domain/values/ids.js";
import type { PhoneNumber } from "../../../domain/values/phone-number.js";
import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";
import type { Outcome } from "../../../ledger/ports/outcome.js";
import type { ReadLimits } from "../../../ledger/ports/reads.js";
import { accountsOf, Plan, type PlannedRow, warningsIn, withinMeans } from "../../../payouts/plan.js";
import {
  type FileToStore,
  type LeftOutRow,
  PART_ROWS,
  type PayoutFiles,
  type PayoutItem,
  type PayoutOwner,
  type RecentPayout,
} from "../../../payouts/ports.js";
import type { ReadPayoutFile } from "../../../payouts/read-payout-file.js";
import { redemptionOf } from "../../../payouts/redemption.js";
import type { InTurn } from "../../../statements/ports.js";
import type { AnyRefusal } from "../../errors/refusal.js";
import { messageOf } from "../../errors/status.js";
import { decidedAt } from "../../messages/limits.js";
import { type Preview, SHOWN_MAX } from "../../messages/operators/payouts.js";

/** These rows are looked at together. */
const SLICE = 250;
/**
 * Each millisecond of trials rests as long as this number of listed rows: 2.5 ms. Trials take
 * longer while others mint, so a preview is fast in peace and gives way under load.
 */
const TRIAL_COST = 125;
const RECENT_MILLIS = 7 * 86_400_000;

interface PreparationOptions {
  readonly organization: PayoutOwner;
  readonly files: Pick<PayoutFiles, "accounts" | "recent">;
  readonly rail: Rail;
  readonly railTerms: RailTerms;
  readonly newTransactionId: () => TransactionId;
  /** Whether a number may be of another network. */
  readonly doubts: (number: PhoneNumber) => boolean;
  /** Undefined if the organization has no limits. */
  readonly limits: ReadLimits | undefined;
  /** Decides a redemption on trial: nothing is written. */
  readonly decide: (command: MoveMoney) => Promise<Outcome<Transaction>>;
  readonly inTurn: InTurn;
  readonly now: UnixMillis;
}

/** A file that was looked at, as it is stored. */
export interface PreparedFile extends FileToStore {
  readonly preview: Preview;
}

/**
 * Looks at each row of a file: its account, its number, its balance, and what the ledger would make
 * of its redemption. Every read takes the turn of a list.
 */
export async function prepareFile(
  { rows: read, sha256 }: ReadPayoutFile,
  options: PreparationOptions,
): Promise<PreparedFile | AnyRefusal> {
  const { organization, files, inTurn, rail, now } = options;
  const plan = new Plan(sha256);
  for (const some of slicesOf(read, SLICE)) {
    const accountIds = some.flatMap((row) => row.accountId ?? []);
    const userIds = some.flatMap((row) => row.userId ?? []);
    const found = await inTurn(async () => {
      const result = await files.accounts(organization, { accountIds, userIds });
      return { result, lookedAt: some.length };
    });
    plan.take(some, accountsOf(found));
  }
  const leftOut: LeftOutRow[] = [...plan.leftOut];
  const decided = await onTrial(plan.planned, { ...options, sha256, leftOut });
  if ("reason" in decided) return decided;
  const { limits } = options;
  const planned = withinMeans(decided, leftOut, { limits, now: decidedAt(limits, now), wordsOf: messageOf });
  const recent = await recentOf(planned, { organization, files, inTurn, now });
  const warnings = warningsIn(planned, { recent, doubts: options.doubts });
  const byLine = leftOut.toSorted((left, right) => left.line - right.line);
  const items: readonly PayoutItem[] = [...planned.map(({ row }) => row), ...byLine];
  const hash = createHash("sha256").update(JSON.stringify([organization.id, rail, sha256]));
  const parts: (readonly PayoutItem[])[] = [];
  for (const part of slicesOf(items, PART_ROWS)) {
    parts.push(part);
    await inTurn(() => Promise.resolve({ result: hash.update(JSON.stringify(part)), lookedAt: part.length }));
  }
  const preview: Preview = {
    sha256,
    rail,
    count: planned.length,
    amountCents: sumOf(planned),
    totals: DESTINATION_KINDS.flatMap((kind) => {
      const own = planned.filter((row) => row.kind === kind);
      return own.length === 0 ? [] : [{ kind, count: own.length, amountCents: sumOf(own) }];
    }),
    leftOut: byLine.length,
    errors: byLine.slice(0, SHOWN_MAX).map(({ line, problem: text }) => ({ line, text })),
    warned: warnings.length,
    warnings: warnings.slice(0, SHOWN_MAX),
    listed: planned.flatMap(({ row, heldFor = [] }) => (heldFor.includes("LISTED") ? [row.line] : [])),
  };
  return { sha256, rowsSha256: hash.digest("hex"), preview, parts };
}

interface RowsOnTrial extends PreparationOptions {
  readonly sha256: string;
  /** Gets the rows that the ledger would refuse. */
  readonly leftOut: LeftOutRow[];
}

/** Returns the rows that the ledger would accept, each alone. */
async function onTrial(
  planned: readonly PlannedRow[],
  { organization, sha256, rail, railTerms, newTransactionId, decide, inTurn, leftOut }: RowsOnTrial,
): Promise<readonly PlannedRow[] | AnyRefusal> {
  const accepted: PlannedRow[] = [];
  for (const some of slicesOf(planned, SLICE)) {
    const outcomes = await inTurn(async () => {
      const begun = performance.now();
      const of = { organizationId: organization.id, sha256, rail, railTerms };
      const result = await Promise.all(
        some.map(({ row }) =>
          decide({ ...redemptionOf(row, { ...of, newTransactionId: newTransactionId() }), dryRun: true }),
        ),
      );
      return { result, lookedAt: (performance.now() - begun) * TRIAL_COST };
    });
    for (const [index, outcome] of outcomes.entries()) {
      const row = some[index] as PlannedRow;
      if (outcome.kind === "done") {
        accepted.push({ ...row, heldFor: outcome.resource.heldFor });
        continue;
      }
      const field = FIELDS[outcome.refusal.reason];
      if (field === undefined) return outcome.refusal;
      leftOut.push({ line: row.row.line, problem: `${field}: ${messageOf(outcome.refusal)}` });
    }
  }
  return accepted;
}

/** The column that a refusal of a row is about. Any other refusal is about the whole file. */
const FIELDS: Readonly<Partial<Record<AnyRefusal["reason"], string>>> = {
  REFERENCE_ALREADY_USED: "reference",
  ACCOUNT_NOT_FOUND: "account",
  ACCOUNT_CLOSED: "account",
  ACCOUNT_FROZEN: "account",
  PHONE_NUMBER_MISSING: "account",
  PHONE_NUMBER_NOT_PAYABLE: "account",
  PHONE_NUMBER_COOLING: "account",
  DESTINATION_NOT_FOUND: "destination",
  DESTINATION_NOT_PAYABLE: "destination",
  DESTINATION_COOLING: "destination",
  INSUFFICIENT_FUNDS: "amount",
  LIMIT_EXCEEDED: "amount",
  AMOUNT_NOT_PAYABLE: "amount",
  ROW_CHANGED: "account",
};

async function recentOf(
  planned: readonly PlannedRow[],
  { organization, files, inTurn, now }: Pick<PreparationOptions, "organization" | "files" | "inTurn" | "now">,
): Promise<readonly RecentPayout[]> {
  const recent: RecentPayout[] = [];
  const since = toUnixMillis(Math.max(0, now - RECENT_MILLIS));
  const ids = [...new Set(planned.map(({ row }) => row.accountId))];
  for (const some of slicesOf(ids, SLICE)) {
    const found = await inTurn(async () => {
      const result = await files.recent(organization, some, since);
      return { result, lookedAt: some.length + result.length };
    });
    recent.push(...found);
  }
  return recent;
}

function sumOf(rows: readonly PlannedRow[]): number {
  return rows.reduce((sum, { row }) => sum + row.amountCents, 0);
}
