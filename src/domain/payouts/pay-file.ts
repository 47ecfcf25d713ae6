import type { Authorized } from "../authority.js";
import { changes } from "../change.js";
import { NOTHING_TOUCHES } from "../deciding-rows.js";
import { type Book, type Decision, type Lookup, type Operation, replay } from "../decision.js";
import { type ApprovedPayoutFile, detailOfPayouts, type PayoutFile } from "../payout-file.js";
import { bookEntryOf, withSecondPerson } from "../second-person.js";
import { amountText } from "../values/cents.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Lets the rows of a file be paid. The caller has stored them. */
export interface PayFile extends Authorized, PayoutFile {
  readonly name: "payFile";
  readonly note: StatusReason;
}

const operation: Operation<PayFile, ApprovedPayoutFile> = { lookup, decide };

export const payFile = withSecondPerson(operation, {
  groupOf: () => "payouts",
  changesOf: ({ sha256, rail, rows, amountCents, leftOut }) =>
    changes(
      ["SHA-256 of the file", "", sha256],
      ["payouts", "", `${String(rows)} over ${rail}, together ${amountText(amountCents)}`],
      ["rows with an error, which are not paid", "", leftOut === 0 ? "" : String(leftOut)],
    ),
  // A file is paid once, and its rows never change.
  touchedBy: NOTHING_TOUCHES,
});

function lookup({ organizationId, sha256 }: PayFile, rows: Lookup): void {
  rows.need("payoutFile", { organizationId, name: sha256 });
}

/**
 * Lets the rows of a file be paid, one after another: the ledger decides each redemption by itself.
 * A file that was approved before is a replay, and stays as it was.
 */
function decide(book: Book, command: PayFile, now: UnixMillis): Decision<ApprovedPayoutFile> {
  const { organizationId, sha256, rowsSha256, rail, rows, amountCents, leftOut } = command;
  const existing = book.payoutFile(organizationId, sha256);
  if (existing !== undefined) return replay(existing);
  const file = { organizationId, sha256, rowsSha256, rail, rows, amountCents, leftOut };
  const row: ApprovedPayoutFile = { ...file, approvedAt: now, approvedBy: command.actor, stoppedAt: undefined };
  const detail = detailOfPayouts(file);
  const entry = bookEntryOf({ ...command, now }, { kind: "payouts.approved", reason: command.note, detail });
  return { kind: "effect", resource: row, effect: { entries: [entry], puts: [{ table: "payoutFiles", row }] } };
}
