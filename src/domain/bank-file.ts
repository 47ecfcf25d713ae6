import type { RailAccountId, RailReference } from "./payment.js";
import type { Actor } from "./values/actor.js";
import type { Cents } from "./values/cents.js";
import type { OrganizationId, TransactionId } from "./values/ids.js";
import type { NairobiDay } from "./values/nairobi-day.js";
import { type Parsed, parsed, unparsed } from "./values/parsed.js";

/**
 * The name of a payment file, which the bank gets as MsgId. It follows from the payments of the
 * file. Each of them has it as its rail reference.
 */
export type BankFileId = RailReference & { readonly bankFile: unique symbol };

/** A file with payments for a bank, as its journal row has it. It has no personal data. */
export interface BankFileRecord {
  readonly organizationId: OrganizationId;
  readonly id: BankFileId;
  readonly railAccountId: RailAccountId;
  /** That of the bytes that the bank gets, in hexadecimal. */
  readonly sha256: string;
  /** The number of payments, and their sum. */
  readonly count: number;
  readonly amountCents: Cents;
  /** The day in Kenya on which the bank is asked to pay. */
  readonly day: NairobiDay;
}

/** A file that was approved. */
export interface ApprovedBankFile extends BankFileRecord {
  /** Who has proposed and approved it. */
  readonly actor: Actor;
  readonly isLost: boolean;
}

const BANK_FILE_ID = /^KB[0-9A-F]{24}$/;
const ID_DIGITS = 24;

/** Makes the name from a SHA-256 in hexadecimal of what the file pays. */
export function bankFileId(sha256: string): BankFileId {
  return `KB${sha256.slice(0, ID_DIGITS).toUpperCase()}` as BankFileId;
}

export function parseBankFileId(unchecked: string): Parsed<BankFileId> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  return BANK_FILE_ID.test(unchecked)
    ? parsed(unchecked as BankFileId)
    : unparsed("must be the name of a payment file: KB and 24 characters from 0-9 and A-F");
}

/** Returns the detail of the row that approves a file, which an index finds at its beginning. */
export function detailOfBankFile({ id, railAccountId, sha256, count, amountCents, day }: BankFileRecord): string {
  return JSON.stringify([id, railAccountId, sha256, count, amountCents, day]);
}

/** Reads the detail that `detailOfBankFile` made. */
export function readBankFile(detail: string): Omit<BankFileRecord, "organizationId"> {
  const [id, railAccountId, sha256, count, amountCents, day] = JSON.parse(detail) as readonly [
    BankFileId,
    RailAccountId,
    string,
    number,
    Cents,
    NairobiDay,
  ];
  return { id, railAccountId, sha256, count, amountCents, day };
}

/** Returns the detail of a later row about the file. */
export function detailOfId(id: BankFileId): string {
  return JSON.stringify([id]);
}

/** Returns the id in the detail of any row about a file. */
export function idIn(detail: string): BankFileId {
  return (JSON.parse(detail) as readonly [BankFileId])[0];
}

/** MT940 has room for this many characters of a reference. */
const REFERENCE_CHARACTERS_MIN = 16;

/**
 * Returns the reference that a payment has in its file and in the bank's statement: the last 16
 * characters of the transaction's id, and then the first 10 behind the prefix. The first ones are a
 * time, which the payments of one commit share, and a bank may cut the reference after 16. Banks
 * take capital letters and digits, and no underscore.
 */
export function endToEndIdOf(transactionId: TransactionId): string {
  const id = transactionId.slice(transactionId.indexOf("_") + 1).toUpperCase();
  return id.slice(-REFERENCE_CHARACTERS_MIN) + id.slice(0, -REFERENCE_CHARACTERS_MIN);
}

const END_TO_END_ID = /^[0-9A-HJKMNP-TV-Z]{16}[0-7][0-9A-HJKMNP-TV-Z]{9}$/;

/** Returns the transaction that `endToEndIdOf` has named. Undefined for another text. */
export function transactionOfEndToEndId(reference: string): TransactionId | undefined {
  if (!END_TO_END_ID.test(reference)) return undefined;
  const [last, first] = [reference.slice(0, REFERENCE_CHARACTERS_MIN), reference.slice(REFERENCE_CHARACTERS_MIN)];
  return `txn_${first}${last}`.toLowerCase() as TransactionId;
}

/**
 * Returns what finds the transactions that a reference of a statement names, as a whole or by its
 * beginning. It takes the same time however many transactions there are.
 */
export function namedTransactions(ids: readonly TransactionId[]): (reference: string) => readonly TransactionId[] {
  const byBeginning = Map.groupBy(ids, (id) => endToEndIdOf(id).slice(0, REFERENCE_CHARACTERS_MIN));
  return (reference) => {
    const written = reference.toUpperCase();
    const likely = byBeginning.get(written.slice(0, REFERENCE_CHARACTERS_MIN)) ?? [];
    return likely.filter((id) => endToEndIdOf(id).startsWith(written));
  };
}
