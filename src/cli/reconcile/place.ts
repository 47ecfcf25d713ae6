import { InvalidArgumentError } from "commander";

import { parseReceipt } from "../../domain/receipt.js";
import type { Rail } from "../../domain/transaction.js";
import { isOfMachine, WEBHOOKS } from "../../domain/values/actor.js";
import { RAILS } from "../../rails/rails.js";
import type { DateOrder } from "../../rails/written-time.js";
import { bankFacts } from "../../reconcile/banks/bank-facts.js";
import { comparedClosing } from "../../reconcile/banks/closing.js";
import { BANK_COLUMNS, type BankColumn, type BankTable } from "../../reconcile/banks/named-columns.js";
import { readBankFile } from "../../reconcile/banks/read-bank-file.js";
import { compareStatement } from "../../reconcile/compare-statement.js";
import type { ReconciledPeriod } from "../../reconcile/reconciliation.js";
import { UsageError } from "../../startup/operator-error.js";
import { bookedMovements } from "../../storage/rails/booked-movements.js";
import { historyReads } from "../../storage/statements/history.js";
import type { FoundOwner } from "../organizations.js";
import { applyCharges } from "./apply-charges.js";
import type { ReconcileReport } from "./report.js";

export type ColumnNames = ReadonlyMap<BankColumn, string>;

/** What the command says about a bank's file. */
export interface PlaceOfFile {
  readonly place?: string;
  readonly source?: string;
  readonly account?: string;
  readonly columns?: ColumnNames;
  readonly dates?: keyof typeof DATE_ORDERS;
  readonly reference?: RegExp;
}

interface FromPlace extends PlaceOfFile, Partial<ReconciledPeriod> {
  readonly place: string;
  readonly file: string;
  readonly bytes: Buffer;
  /** Undefined: no charge is booked. */
  readonly chargeMaxCents: Parameters<typeof applyCharges>[1]["chargeMaxCents"] | undefined;
}

const DATE_ORDERS = { "day-first": "dayFirst", "month-first": "monthFirst" } as const satisfies Record<
  string,
  DateOrder
>;
export const DATES = Object.keys(DATE_ORDERS);

/** Parses "date=Date,debit=Money out". Throws an error that Commander prints. */
export function columnNames(text: string): ColumnNames {
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
  const names = new Map(pairs);
  const hasAmount = names.has("amount") !== (names.has("debit") && names.has("credit"));
  if (names.size < pairs.length || !names.has("date") || !hasAmount) {
    throw new InvalidArgumentError("It must name date, and amount or else debit and credit, each once.");
  }
  return names;
}

/** Parses a regular expression. Throws an error that Commander prints. */
export function referencePattern(text: string): RegExp {
  try {
    return new RegExp(text, "u");
  } catch {
    throw new InvalidArgumentError("It must be a regular expression such as FT[0-9A-Z]+.");
  }
}

/** Compares a bank's file with the book of its place. Rejects with a StatementError. */
export async function fromPlace({ organization, cell }: FoundOwner, options: FromPlace): Promise<ReconcileReport> {
  const { id: organizationId, name } = organization;
  const { place, file, bytes, account, columns, dates, reference: pattern, from, to, chargeMaxCents } = options;
  const source = sourceOf(options);
  const table: BankTable | undefined = columns && {
    columns,
    dateOrder: dates && DATE_ORDERS[dates],
    pattern,
  };
  const joined = await readBankFile(bytes, { table, account });
  const book = await bookedMovements(cell, { organizationId, rail: source });
  const facts = await bankFacts(joined, { source, book });
  const booking = { cell, organizationId, rail: source, book };
  const chargesBooked =
    chargeMaxCents === undefined ? 0 : await applyCharges(facts.charges, { ...booking, chargeMaxCents });
  const period = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const compared = await compareStatement(facts, { book, tie: undefined, ...period });
  const figures = await historyReads(cell).reserveHoldings(organizationId);
  const figure = figures.find((each) => each.place === place);
  const { id: statement, account: written, closing } = joined;
  return {
    organizationId,
    name,
    chargesBooked,
    applied: [],
    ...compared,
    place: {
      name: place,
      source,
      file,
      statement,
      account: written,
      closing: closing && comparedClosing(closing, figure),
      known: figures.map((each) => each.place),
    },
  };
}

/** Returns the source of the place's receipts, which is also the author of its charges. */
function sourceOf({ place, source = sourceLike(place) }: FromPlace): Rail {
  const receipt = parseReceipt({ source, number: "1" });
  if (!receipt.ok && receipt.key === "source") throw new UsageError(`--source ${receipt.problem}.`);
  if (RAILS.some(({ name }) => name === source)) {
    throw new UsageError(`${source} is a rail. Compare its statement: kesc reconcile ${source} FILE`);
  }
  if (isOfMachine(source) || source === WEBHOOKS) throw new UsageError(`--source must not be ${source}.`);
  return source as Rail;
}

/** "KCB 1234" has receipts such as kcb-1234:FT26330XK2. */
function sourceLike(place: string): string {
  return place
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}
