import type { Authorized } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { ApprovedPayoutFile } from "../payout-file.js";
import { bookEntryOf, byOnePerson } from "../second-person.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Stops an approved file: its rows that nobody has redeemed yet are never paid by it. */
export interface StopFile extends Authorized {
  readonly name: "stopFile";
  /** The SHA-256 of the file. */
  readonly sha256: string;
  readonly note: StatusReason;
}

const operation: Operation<StopFile, ApprovedPayoutFile> = { lookup, decide };

/** It only takes power away, so nobody waits for a second person. */
export const stopFile = byOnePerson(operation);

function lookup({ organizationId, sha256 }: StopFile, rows: Lookup): void {
  rows.need("payoutFile", { organizationId, name: sha256 });
}

/** Stops a file for ever. A repeat is a replay. Refuses PAYOUTS_NOT_FOUND. */
function decide(book: Book, command: StopFile, now: UnixMillis): Decision<ApprovedPayoutFile> {
  const { organizationId, sha256, note: reason } = command;
  const file = book.payoutFile(organizationId, sha256);
  if (file === undefined) return refuse({ reason: "PAYOUTS_NOT_FOUND", sha256 });
  if (file.stoppedAt !== undefined) return replay(file);
  const row: ApprovedPayoutFile = { ...file, stoppedAt: now };
  const detail = JSON.stringify([sha256]);
  const entry = bookEntryOf({ ...command, now }, { kind: "payouts.stopped", reason, detail });
  return { kind: "effect", resource: row, effect: { entries: [entry], puts: [{ table: "payoutFiles", row }] } };
}
