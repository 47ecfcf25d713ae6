import type { Authorized } from "../authority.js";
import { type ApprovedBankFile, type BankFileId, detailOfId } from "../bank-file.js";
import { changes } from "../change.js";
import { NOTHING_TOUCHES } from "../deciding-rows.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { bookEntryOf, withSecondPerson } from "../second-person.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Notes that a payment file was lost: nobody gets it any more. */
export interface ReportBankFileLost extends Authorized {
  readonly name: "reportBankFileLost";
  readonly id: BankFileId;
  readonly note: StatusReason;
}

const operation: Operation<ReportBankFileLost, ApprovedBankFile> = { lookup, decide };

export const reportBankFileLost = withSecondPerson(operation, {
  groupOf: () => "payouts",
  changesOf: ({ id }) => changes([`payment file ${id}`, "approved", "lost"]),
  // A file is lost once, and for ever.
  touchedBy: NOTHING_TOUCHES,
});

function lookup({ organizationId, id: name }: ReportBankFileLost, rows: Lookup): void {
  rows.need("bankFile", { organizationId, name });
}

/**
 * Marks a file as lost. Its payments stay as they are: the bank may have the file all the same, so
 * only its statement or a person ends them. A lost file is a replay.
 *
 * Refuses: BANK_FILE_NOT_FOUND.
 */
function decide(book: Book, command: ReportBankFileLost, now: UnixMillis): Decision<ApprovedBankFile> {
  const { organizationId, id: bankFileId, note: reason } = command;
  const file = book.bankFile(organizationId, bankFileId);
  if (file === undefined) return refuse({ reason: "BANK_FILE_NOT_FOUND", bankFileId });
  if (file.isLost) return replay(file);
  const detail = detailOfId(bankFileId);
  const entry = bookEntryOf({ ...command, now }, { kind: "bank_file.lost", reason, detail });
  return { kind: "effect", resource: { ...file, isLost: true }, effect: { entries: [entry], puts: [] } };
}
