import type { Authorized } from "../authority.js";
import { type ApprovedBankFile, type BankFileId, detailOfId } from "../bank-file.js";
import { type Book, type Decision, type Lookup, type Operation, refuse } from "../decision.js";
import { bookEntryOf, byOnePerson } from "../second-person.js";
import type { UnixMillis } from "../values/time.js";

/** Notes that a person gets the bytes of a payment file. */
export interface DownloadBankFile extends Authorized {
  readonly name: "downloadBankFile";
  readonly id: BankFileId;
}

const operation: Operation<DownloadBankFile, ApprovedBankFile> = { lookup, decide };

/** It moves no money. The caller has checked that the person may have the file. */
export const downloadBankFile = byOnePerson<DownloadBankFile, ApprovedBankFile>(operation);

function lookup({ organizationId, id: name }: DownloadBankFile, rows: Lookup): void {
  rows.need("bankFile", { organizationId, name });
}

/**
 * Notes a download. A repeat is another one: somebody has the file once more.
 *
 * Refuses, in this order: BANK_FILE_NOT_FOUND, BANK_FILE_CLOSED (it is lost).
 */
function decide(book: Book, command: DownloadBankFile, now: UnixMillis): Decision<ApprovedBankFile> {
  const { organizationId, id: bankFileId } = command;
  const file = book.bankFile(organizationId, bankFileId);
  if (file === undefined) return refuse({ reason: "BANK_FILE_NOT_FOUND", bankFileId });
  if (file.isLost) return refuse({ reason: "BANK_FILE_CLOSED", bankFileId, cause: "LOST" });
  const entry = bookEntryOf({ ...command, now }, { kind: "bank_file.downloaded", detail: detailOfId(bankFileId) });
  return { kind: "effect", resource: file, effect: { entries: [entry], puts: [] } };
}
