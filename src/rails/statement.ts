import type { RailReceipt } from "../domain/payment.js";
import type { Cents } from "../domain/values/cents.js";
import type { MaskedPhone } from "../domain/values/masked-phone.js";
import type { UnixMillis } from "../domain/values/time.js";

/** How a rail writes the statement of an account, as a table. */
export interface StatementFormat {
  /** Returns how many columns of a statement a line names: the header names most. */
  knownColumns(cells: readonly string[]): number;
  /** The words by which the rail itself tells the kind of a row. */
  readonly words: StatementWords;
  /** Begins to read one file. */
  reader(file: StatementFile): StatementReader;
}

export interface StatementFile {
  /** The name of the file, which may name an account. */
  readonly name: string;
  /** The numbers of the account at the rail. Empty if the organization has none. */
  readonly numbers: readonly string[];
  /** The words that the settings of the account add. */
  readonly words?: StatementWords | undefined;
}

/** Reads the lines of one file, and then says what the whole file says. */
export interface StatementReader {
  /** Takes a line, also those before the header. */
  add(cells: readonly string[], line: number): StatementProblem | undefined;
  /** Reads the file as a whole. No line may follow. */
  end(): ReadStatement | StatementProblem;
}

/** The file is no statement of the account, or has a line that cannot be read. */
export interface StatementProblem {
  /** A clause for people that names the line, without a full stop. */
  readonly problem: string;
}

export interface ReadStatement {
  /** In the order of the file. Of rows with one receipt the likeliest movement is first. */
  readonly rows: readonly StatementRow[];
  /** The rows that moved nothing, or not yet. */
  readonly notCompleted: number;
  /** What makes the file doubtful: sentences for people. */
  readonly doubts: readonly string[];
}

/** What a row is about. `unknown`: nobody may change an account because of it. */
export const ROW_KINDS = ["pay_in", "payout", "charge", "reversal", "own_transfer", "unknown"] as const;
export type RowKind = (typeof ROW_KINDS)[number];

/** Words of a row, in small letters, by the kind that they tell. */
export type StatementWords = Readonly<Record<Exclude<RowKind, "unknown">, readonly string[]>>;

export interface StatementRow {
  readonly receipt: RailReceipt;
  readonly completedAt: UnixMillis;
  readonly direction: "in" | "out";
  readonly amountCents: Cents;
  readonly kind: RowKind;
  /** The id of the transaction, if the row names it. */
  readonly transactionId: string | undefined;
  /** The last characters of the transaction's id, in lower case, if the row names only these. */
  readonly idEnd: string | undefined;
  /** What the payer typed. */
  readonly reference: string | undefined;
  readonly phone: MaskedPhone | undefined;
  /** The receipt of the payment that the row is about, such as the one that it reverses. */
  readonly linkedReceipt: RailReceipt | undefined;
  /** The receipt is only the row's place in its day. Another file may have another row there. */
  readonly isUnnumbered?: true;
}
