import type { RailReceipt } from "../../../domain/payment.js";
import { toCents } from "../../../domain/values/cents.js";
import type { UnixMillis } from "../../../domain/values/time.js";
import type {
  ReadStatement,
  RowKind,
  StatementFile,
  StatementFormat,
  StatementProblem,
  StatementReader,
  StatementRow,
  StatementWords,
} from "../../statement.js";
import { signedAmount } from "../../written-amount.js";
import { type WrittenTime, writtenTime } from "../../written-time.js";
import { readPartyPhone, readReceipt } from "../messages.js";
import { transactionEndOf } from "../stk.js";
import { columnName, headerIn, knownColumns, type StatementColumn } from "./columns.js";
import { dateOrderOf } from "./date-order.js";
import { kindOf, type MarkedKind, withWords, WORDS } from "./row-kinds.js";
import { doubtsAbout, type TotalsLine } from "./statement-checks.js";
import { newHead, readHeadLine, type StatementHead } from "./statement-head.js";

// The name of the organization, the shortcode, the period and the totals.
const LINES_BEFORE_HEADER_MAX = 50;
const PAYOUT = /original conversation id is (txn_[0-9a-z]{26})/i;
const TOTALS = /^(grand )?totals?:?$/i;

/** The statement that M-Pesa's portal exports for a shortcode, in each form that people upload. */
export const STATEMENT: StatementFormat = {
  knownColumns,
  words: WORDS,
  reader: (file) => new MpesaStatementReader(file),
};

/** A completed row before the whole file is known. */
interface UndatedStatementRow extends Omit<StatementRow, "completedAt" | "kind"> {
  readonly line: number;
  readonly time: WrittenTime;
  readonly marked: MarkedKind;
  readonly balanceCents: number | undefined;
  readonly isReversed: boolean;
}

class MpesaStatementReader implements StatementReader {
  readonly #file: StatementFile;
  readonly #head: StatementHead;
  readonly #words: StatementWords;
  readonly #rows: UndatedStatementRow[] = [];
  #places: ReadonlyMap<StatementColumn, number> | undefined;
  #totals: TotalsLine | undefined;
  #notCompleted = 0;
  /** A line that is nearly a header. */
  #nearly: string | undefined;

  constructor(file: StatementFile) {
    this.#file = file;
    this.#head = newHead(file.name);
    this.#words = withWords(file.words);
  }

  add(cells: readonly string[], line: number): StatementProblem | undefined {
    if (this.#places !== undefined) return this.#addRow(this.#places, cells, line);
    const header = headerIn(cells);
    if (header === undefined) readHeadLine(this.#head, cells);
    else if ("problem" in header) this.#nearly ??= `Line ${String(line)} ${header.problem}`;
    else this.#places = header.places;
    return this.#places === undefined && line > LINES_BEFORE_HEADER_MAX ? this.#noHeader() : this.#otherAccount();
  }

  end(): ReadStatement | StatementProblem {
    if (this.#places === undefined) return this.#noHeader();
    const rows = this.#moved();
    const order = dateOrderOf(rows, this.#head.period);
    if ("problem" in order) return order;
    const timed = rows.map((row) => ({ ...row, completedAt: row.time[order.order] ?? (0 as UnixMillis) }));
    const totalled = rows.map(({ line, direction, amountCents, balanceCents }) => ({
      line,
      cents: direction === "in" ? amountCents : -Number(amountCents),
      balanceCents,
    }));
    const doubts = [...order.doubts, ...doubtsAbout(totalled, this.#head, this.#totals)];
    return { rows: orderedRows(timed), notCompleted: this.#notCompleted, doubts };
  }

  #noHeader(): StatementProblem {
    const nearly = this.#nearly === undefined ? "" : `. ${this.#nearly}`;
    return { problem: `It is no statement of M-Pesa: no line has the names of its columns${nearly}` };
  }

  #otherAccount(): StatementProblem | undefined {
    const { shortcode } = this.#head;
    const { numbers } = this.#file;
    if (shortcode === undefined || numbers.length === 0 || numbers.includes(shortcode)) return undefined;
    return { problem: `It is the statement of shortcode ${shortcode}, and the account has ${numbers.join(" and ")}` };
  }

  #addRow(
    places: ReadonlyMap<StatementColumn, number>,
    cells: readonly string[],
    line: number,
  ): StatementProblem | undefined {
    const cell = (column: StatementColumn): string => (cells[places.get(column) ?? -1] ?? "").trim();
    const bad = (column: StatementColumn, problem: string): StatementProblem => ({
      problem: `Line ${String(line)}: "${columnName(column)}" ${problem}`,
    });
    const paidIn = signedAmount(cell("paidIn"));
    const withdrawn = signedAmount(cell("withdrawn"));
    if (isTotals(cells, cell)) {
      if (paidIn === "bad" || withdrawn === "bad")
        return bad(paidIn === "bad" ? "paidIn" : "withdrawn", "is no amount");
      this.#totals = { line, paidIn, withdrawn };
      return undefined;
    }
    const status = places.has("status") ? cell("status").toLowerCase() : "completed";
    const isReversed = status === "reversed";
    if (status !== "completed" && !(isReversed && (paidIn ?? withdrawn) !== undefined)) {
      this.#notCompleted += 1;
      return undefined;
    }
    const receipt = readReceipt(cell("receipt").toUpperCase());
    if (receipt === undefined) return bad("receipt", "is no receipt");
    const time = writtenTime(cell("completed"));
    if (time === undefined) return bad("completed", "is no time such as 22-11-2026 10:05:33");
    if (paidIn === "bad" || (paidIn ?? 0) < 0) return bad("paidIn", "is no amount such as 1,053.00");
    if (withdrawn === "bad") return bad("withdrawn", "is no amount such as 1,053.00");
    const amount = paidIn ?? withdrawn;
    if (amount === undefined || (paidIn !== undefined && withdrawn !== undefined)) {
      return bad("paidIn", "or Withdrawn must have an amount, and not both");
    }
    if (!/^(KES)?$/i.test(cell("currency"))) return bad("currency", "must be KES");
    const balance = signedAmount(cell("balance"));
    const transactionId = PAYOUT.exec(cell("details"))?.[1];
    const reference = cell("account") || undefined;
    const phone = readPartyPhone(cell("party"));
    const direction = paidIn === undefined ? "out" : "in";
    this.#rows.push({
      line,
      time,
      receipt,
      direction,
      amountCents: toCents(Math.abs(amount)),
      marked: kindOf(
        {
          reason: cell("reason"),
          details: cell("details"),
          party: cell("party"),
          isOfPhone: phone !== undefined,
          isOfAccount: this.#file.numbers.includes(/^\d+/.exec(cell("party"))?.[0] ?? ""),
          accountReference: cell("account"),
          direction,
          namesTransaction: transactionId !== undefined,
        },
        this.#words,
      ),
      transactionId,
      // What the payer's prompt showed, or what the payer typed.
      idEnd: transactionEndOf(reference),
      reference,
      phone,
      linkedReceipt: readReceipt(cell("linked").toUpperCase()),
      balanceCents: balance === "bad" || cell("balance") === "" ? undefined : (balance ?? 0),
      isReversed,
    });
    return undefined;
  }

  /** A reversed row has moved shillings if the file has the row that took them back. */
  #moved(): readonly UndatedStatementRow[] {
    const taken = new Set(
      this.#rows.flatMap(({ isReversed, linkedReceipt }) => (isReversed ? [] : (linkedReceipt ?? []))),
    );
    const moved = this.#rows.filter(({ isReversed, receipt }) => !isReversed || taken.has(receipt));
    this.#notCompleted += this.#rows.length - moved.length;
    return moved;
  }
}

/** The last line of some forms has sums, and neither a receipt nor a time. */
function isTotals(cells: readonly string[], cell: (column: StatementColumn) => string): boolean {
  if (cell("completed") !== "" || cell("status") !== "") return false;
  return cell("receipt") === "" ? true : TOTALS.test(cells.find((text) => text.trim() !== "")?.trim() ?? "");
}

type DatedStatementRow = UndatedStatementRow & { readonly completedAt: UnixMillis };

/** Of rows with one receipt, the row of a known kind comes first: it is the likelier movement. */
function orderedRows(rows: readonly DatedStatementRow[]): readonly StatementRow[] {
  const byReceipt = new Map<RailReceipt, DatedStatementRow[]>();
  for (const row of rows) {
    const own = byReceipt.get(row.receipt);
    if (own === undefined) byReceipt.set(row.receipt, [row]);
    else own.push(row);
  }
  return [...byReceipt.values()].flatMap((own) => {
    const largest = Math.max(...own.map((row) => (isPayment(row) ? row.amountCents : 0)));
    return own
      .map((row) => statementRow(row, kindBeside(row, largest)))
      .sort((one, other) => rankOf(one) - rankOf(other) || other.amountCents - one.amountCents);
  });
}

function isPayment({ marked }: DatedStatementRow): boolean {
  return marked !== "charge" && marked !== "charge_of_partner";
}

function kindBeside({ marked, amountCents }: DatedStatementRow, largest: number): RowKind {
  if (marked !== "charge_of_partner") return marked;
  return amountCents < largest ? "charge" : "unknown";
}

function rankOf({ kind }: StatementRow): number {
  return kind === "unknown" ? 1 : 0;
}

function statementRow(row: DatedStatementRow, kind: RowKind): StatementRow {
  const { receipt, completedAt, direction, amountCents, transactionId, idEnd, reference, phone, linkedReceipt } = row;
  return { receipt, completedAt, direction, amountCents, kind, transactionId, idEnd, reference, phone, linkedReceipt };
}
