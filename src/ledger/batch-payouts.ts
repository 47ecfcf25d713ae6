import { type ApprovedBankFile, idIn, readBankFile } from "../domain/bank-file.js";
import { nameIn } from "../domain/decision.js";
import type { JournalEntry } from "../domain/journal.js";
import { type PayoutCheck, readCheck } from "../domain/payout-check.js";
import { isPaidOut, type Transaction } from "../domain/transaction.js";
import type { OrganizationId } from "../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import type { BankFileRow, Loaded } from "./ports/store.js";

/** What a batch has loaded or made about payouts, of all its books. Names begin with the book. */
export class BatchPayouts {
  readonly #paidTo = new Map<string, UnixMillis>();
  /** By the book and the text, which lists have it. */
  readonly #listed = new Map<string, readonly string[]>();
  /** By the book and the id of the file. */
  readonly #bankFiles = new Map<string, ApprovedBankFile>();
  readonly #checks = new Map<OrganizationId, PayoutCheck>();

  constructor({
    listed,
    payoutChecks,
    paidTo,
    bankFiles,
  }: Pick<Loaded, "listed" | "payoutChecks" | "paidTo" | "bankFiles">) {
    for (const { organizationId, text, lists } of listed) this.#listed.set(nameIn(organizationId, text), lists);
    for (const check of payoutChecks) this.#checks.set(check.organizationId, check);
    for (const paid of paidTo) this.#paidTo.set(nameIn(paid.organizationId, paid.paidTo), paid.acceptedAt);
    for (const kind of ["bank_file.approved", "bank_file.lost"]) {
      for (const row of bankFiles) if (row.kind === kind) this.#noteBankFile(row);
    }
  }

  paidTo(name: string): UnixMillis | undefined {
    return this.#paidTo.get(name);
  }

  check(organizationId: OrganizationId): PayoutCheck | undefined {
    return this.#checks.get(organizationId);
  }

  bankFile(name: string): ApprovedBankFile | undefined {
    return this.#bankFiles.get(name);
  }

  /** Returns the lists that have the text. Undefined if it was not looked up. */
  listsWith(name: string): readonly string[] | undefined {
    return this.#listed.get(name);
  }

  noteTransaction(transaction: Transaction): void {
    if (!isPaidOut(transaction)) return;
    const name = nameIn(transaction.organizationId, transaction.destinationId ?? transaction.accountId);
    this.#paidTo.set(name, toUnixMillis(Math.max(this.#paidTo.get(name) ?? 0, transaction.createdAt)));
  }

  noteEntry(entry: JournalEntry, seq: number): void {
    const { organizationId, kind, detail = "", recordedAt } = entry;
    if (kind.startsWith("bank_file.")) this.#noteBankFile(entry);
    if (kind === "payouts.check_cleared") this.#checks.delete(organizationId);
    if (kind === "payouts.check_set") {
      this.#checks.set(organizationId, { ...readCheck(detail), organizationId, seq, recordedAt });
    }
  }

  /** The row that approves a file comes before the others. */
  #noteBankFile({ organizationId, kind, detail = "", actor }: BankFileRow): void {
    const name = nameIn(organizationId, idIn(detail));
    const before = this.#bankFiles.get(name);
    if (kind === "bank_file.approved") {
      this.#bankFiles.set(name, { ...readBankFile(detail), organizationId, actor, isLost: false });
    } else if (before !== undefined && kind === "bank_file.lost") {
      this.#bankFiles.set(name, { ...before, isLost: true });
    }
  }
}
