import { InvalidArgumentError } from "commander";

import {
  BANK_COLUMNS,
  type BankColumns,
  parseBankColumns,
  parsePlaceSource,
  parseReferencePattern,
  type StatementForm,
} from "../../domain/statement-form.js";
import type { Rail } from "../../domain/transaction.js";
import type { Cents } from "../../domain/values/cents.js";
import { type ComparedPlace, comparePlace } from "../../reconcile/banks/compare-place.js";
import { readBankFile } from "../../reconcile/banks/read-bank-file.js";
import type { ReconciledPeriod } from "../../reconcile/reconciliation.js";
import { UsageError } from "../../startup/operator-error.js";
import type { History } from "../../statements/as-of.js";
import { bookedMovements } from "../../storage/rails/booked-movements.js";
import type { MessageJson } from "../administration/row.js";
import type { FoundOwner } from "../organizations.js";
import { applyCharges } from "./apply-charges.js";

/** What the command says about a bank's file. */
export interface PlaceOfFile {
  readonly place?: string;
  readonly source?: string;
  readonly account?: string;
  readonly columns?: BankColumns;
  readonly dates?: keyof typeof DATE_ORDERS;
  readonly reference?: string;
}

interface FromPlace extends PlaceOfFile, Partial<ReconciledPeriod> {
  readonly place: string;
  readonly bytes: Buffer;
  readonly history: History;
  /** Undefined: no charge is booked. */
  readonly chargeMaxCents: Cents | undefined;
}

const DATE_ORDERS = { "day-first": "DAY_FIRST", "month-first": "MONTH_FIRST" } as const;
export const DATES = Object.keys(DATE_ORDERS);

/** Parses "date=Date,debit=Money out". Throws an error that Commander prints. */
export function columnNames(text: string): BankColumns {
  const pairs = text.split(",").map((pair) => {
    const [column = "", ...name] = pair.split("=");
    const known = BANK_COLUMNS.find((each) => each === column.trim());
    if (known === undefined || name.join("=").trim() === "") {
      throw new InvalidArgumentError(
        `"${pair}" must be one of ${BANK_COLUMNS.join(", ")}, then = and the bank's name.`,
      );
    }
    return [known, name.join("=").trim()] as const;
  });
  const columns = parseBankColumns(Object.fromEntries(pairs));
  const isTwice = new Set(pairs.map(([column]) => column)).size < pairs.length;
  if (isTwice || !columns.ok || columns.value === undefined) {
    throw new InvalidArgumentError(
      columns.ok ? "It must name each of its columns once." : `It ${columns.problem}, each once.`,
    );
  }
  return columns.value;
}

/** Parses a regular expression. Throws an error that Commander prints. */
export function referencePattern(text: string): string {
  const pattern = parseReferencePattern(text);
  if (!pattern.ok) throw new InvalidArgumentError(`It ${pattern.problem}.`);
  return text;
}

/** What a comparison found, and how many charges were booked before it. */
interface FoundAtPlace {
  readonly compared: ComparedPlace;
  readonly chargesBooked: number;
}

/** Compares a bank's file with the book of its place. Rejects with a StatementError. */
export async function fromPlace(
  { organization, cell }: FoundOwner,
  { place, bytes, history, from, to, chargeMaxCents, ...options }: FromPlace,
): Promise<FoundAtPlace> {
  const { id: organizationId } = organization;
  const form = formOf(place, options);
  const file = await readBankFile(bytes, form);
  const { source } = form;
  const rail = source as Rail;
  const book = await bookedMovements(cell, { organizationId, rail });
  let chargesBooked = 0;
  const compared = await comparePlace(file, {
    place,
    source,
    book,
    history,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(chargeMaxCents !== undefined && {
      onCharges: async (charges) => {
        chargesBooked = await applyCharges(charges, { cell, organizationId, rail, book, chargeMaxCents });
      },
    }),
  });
  return { compared, chargesBooked };
}

function formOf(place: string, { source = "", account, columns, dates, reference }: PlaceOfFile): StatementForm {
  const parsedSource = parsePlaceSource(source, place);
  if (!parsedSource.ok) throw new UsageError(`--source ${parsedSource.problem}.`);
  const dateOrder = dates && DATE_ORDERS[dates];
  return { source: parsedSource.value, account, columns, dateOrder, referencePattern: reference };
}

/** Returns what a request says of a bank's file. */
export function placeFields({ place, source, account, columns, dates, reference }: PlaceOfFile): MessageJson {
  const form = { source, account, columns, date_order: dates?.replace("-", "_"), reference_pattern: reference };
  const given = Object.entries(form).filter(([, value]) => value !== undefined);
  return { place, ...(given.length === 0 ? {} : { form: Object.fromEntries(given) }) };
}
