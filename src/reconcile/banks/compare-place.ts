import { defaultForm, type StatementForm } from "../../domain/statement-form.js";
import { endOfDay } from "../../domain/values/nairobi-day.js";
import { type Parsed, parsed } from "../../domain/values/parsed.js";
import type { History } from "../../statements/as-of.js";
import type { RecordedFigure } from "../../statements/ports.js";
import { reserveAsOf } from "../../statements/reserve-history.js";
import { type ComparedStatement, compareStatement } from "../compare-statement.js";
import type { BookedMovements } from "../ports.js";
import type { ReconciledPeriod } from "../reconciliation.js";
import type { StatementFacts } from "../statement-movements.js";
import { bankFacts } from "./bank-facts.js";
import { type ComparedClosing, comparedClosing } from "./closing.js";
import type { BankFile } from "./read-bank-file.js";

/** The file of a bank, compared with the book of its place. */
export interface ComparedPlace extends ComparedStatement {
  readonly place: string;
  /** The source of the place's receipts. */
  readonly source: string;
  /** That of the file, in hexadecimal. */
  readonly sha256: string;
  /** The numbers of the statements in the file. Undefined for a table. */
  readonly statement: string | undefined;
  /** The number of the account as the bank writes it. Undefined for a table. */
  readonly account: string | undefined;
  /** Undefined if the file tells no closing balance. */
  readonly closing: ComparedClosing<RecordedFigure> | undefined;
  /** The names of the places that have a figure. */
  readonly knownPlaces: readonly string[];
}

/** Returns how the statements of a place are read: as its figure keeps it, or by its name. */
export function formOfPlace(place: string, figures: readonly RecordedFigure[]): Parsed<StatementForm> {
  const kept = figures.find((each) => each.place === place)?.statementForm;
  return kept === undefined ? defaultForm(place) : parsed(kept);
}

interface ComparePlace extends Partial<ReconciledPeriod>, Pick<StatementForm, "source"> {
  readonly place: string;
  /** What the book has of the source. */
  readonly book: BookedMovements;
  readonly history: History;
  /** Is called with the charges before they are compared, and may book them. */
  readonly onCharges?: (charges: StatementFacts["charges"]) => Promise<void>;
}

/**
 * Compares the file of a bank with the book of its place, in the period that is given, or from the
 * first to the last day of the file. Changes nothing by itself. Rejects with a StatementError.
 */
export async function comparePlace(
  file: BankFile,
  { place, source, book, history, onCharges, ...period }: ComparePlace,
): Promise<ComparedPlace> {
  const facts = await bankFacts(file, { source, book });
  await onCharges?.(facts.charges);
  const compared = await compareStatement(facts, { book, tie: undefined, ...period });
  const { sha256, id: statement, account, closing: balance } = file;
  const last = await history.reads.reserveHoldings(history.organizationId);
  const ofDay = balance && (await reserveAsOf(history, endOfDay(balance.day)));
  const own = (figures: typeof last = []) => figures.find((each) => each.place === place);
  const closing = balance && comparedClosing(balance, { last: own(last), known: own(ofDay) });
  return {
    ...compared,
    place,
    source,
    sha256,
    statement,
    account,
    closing,
    knownPlaces: last.map((each) => each.place),
  };
}
