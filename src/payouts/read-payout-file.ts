import { createHash } from "node:crypto";

import type { CsvRecord } from "../../runtime/csv-reader.js";
import { PAYOUT_ROWS_MAX } from "../domain/payout-file.js";
import { type Cents, toCents } from "../domain/values/cents.js";
import { type AccountId, parseAccountId } from "../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../domain/values/parsed.js";
import {
  type Description,
  parseDescription,
  parseNewReference,
  parseUserId,
  type Reference,
  type UserId,
} from "../domain/values/text.js";
import { signedAmount } from "../rails/written-amount.js";
import { recordsIn, type TableHeader } from "../reconcile/files/tables.js";
import { StatementError } from "../reconcile/statement-error.js";

const COLUMNS = ["account", "user_id", "amount", "reference", "description", "destination"] as const;
type PayoutColumn = (typeof COLUMNS)[number];
/** Other names in the header, and the columns that they mean. */
const ALSO: Readonly<Record<string, PayoutColumn>> = { account_id: "account", user: "user_id" };

const DESTINATION_CHARACTERS_MAX = 128;

/** A row as the file has it. What cannot be read is in `problems`, in words that name the field. */
export interface ReadPayout {
  readonly line: number;
  readonly accountId: AccountId | undefined;
  readonly userId: UserId | undefined;
  readonly amountCents: Cents | undefined;
  readonly reference: Reference | undefined;
  readonly description: Description;
  /** The id or the number of a destination. Empty: the phone number of the account. */
  readonly destination: string;
  readonly problems: readonly string[];
}

/** A file that was read to its end. */
export interface ReadPayoutFile {
  readonly rows: readonly ReadPayout[];
  readonly sha256: string;
}

const HEADER: TableHeader = { knownColumns: (cells) => new Set(cells.flatMap((cell) => columnOf(cell) ?? [])).size };

/**
 * Reads a file of payouts: CSV, a workbook or HTML, whose first line that is not empty names the
 * columns. Rows without any text are passed over.
 *
 * Rejects with a StatementError for a file that cannot be read, or has more than 50,000 rows.
 */
export async function readPayoutFile(bytes: Buffer): Promise<ReadPayoutFile> {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const rows: ReadPayout[] = [];
  let places: ReadonlyMap<PayoutColumn, number> | undefined;
  for await (const records of recordsIn(bytes, HEADER)) {
    for (const record of records) {
      if (record.cells.every((cell) => cell.trim() === "")) continue;
      if (places === undefined) places = placesIn(record);
      else rows.push(rowIn(record, places));
      if (rows.length > PAYOUT_ROWS_MAX) {
        throw new StatementError(`It has more than ${String(PAYOUT_ROWS_MAX)} rows. Split it.`);
      }
    }
  }
  if (rows.length === 0) throw new StatementError("It has no rows below the header.");
  return { rows, sha256 };
}

function columnOf(cell: string): PayoutColumn | undefined {
  const name = cell
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");
  return COLUMNS.find((column) => column === name) ?? ALSO[name];
}

function placesIn({ cells, line }: CsvRecord): ReadonlyMap<PayoutColumn, number> {
  const places = new Map<PayoutColumn, number>();
  for (const [place, cell] of cells.entries()) {
    const column = columnOf(cell);
    const at = `Line ${String(line)}`;
    if (column === undefined && cell.trim() !== "") {
      throw new StatementError(`${at} has a column that is none of ${COLUMNS.join(", ")}. Remove it.`);
    }
    if (column === undefined) continue;
    if (places.has(column)) throw new StatementError(`${at} has the column ${column} twice.`);
    places.set(column, place);
  }
  if (!places.has("amount") || !(places.has("account") || places.has("user_id"))) {
    throw new StatementError("Its first line must name the columns amount, and account or user_id.");
  }
  return places;
}

function rowIn({ cells, line }: CsvRecord, places: ReadonlyMap<PayoutColumn, number>): ReadPayout {
  const problems: string[] = [];
  const read = <Value>(column: PayoutColumn, parse: (text: string) => Parsed<Value>): Value | undefined => {
    const text = (cells[places.get(column) ?? -1] ?? "").trim();
    if (text === "") return undefined;
    const value = parse(text);
    if (value.ok) return value.value;
    problems.push(`${column}: ${value.problem}`);
    return undefined;
  };
  const row = {
    line,
    accountId: read("account", parseAccountId),
    userId: read("user_id", parseUserId),
    amountCents: read("amount", parsePayout),
    reference: read("reference", parseNewReference),
    description: read("description", parseDescription) ?? ("" as Description),
    destination: read("destination", parseDestination) ?? "",
  };
  const beyond = cells.slice(Math.max(...places.values()) + 1).some((cell) => cell.trim() !== "");
  if (beyond) problems.push("row: has more cells than the header");
  if (problems.length === 0 && row.amountCents === undefined) problems.push("amount: is required");
  if (problems.length === 0 && (row.accountId === undefined) === (row.userId === undefined)) {
    problems.push(`account: must be given, or else user_id${row.userId === undefined ? "" : ", not both"}`);
  }
  return { ...row, problems };
}

function parsePayout(text: string): Parsed<Cents> {
  const cents = signedAmount(text);
  if (cents === "bad") return unparsed("must be an amount such as 1,053.00, with at most 2 decimals");
  return cents === undefined || cents < 0 ? unparsed("must be more than zero") : parsed(toCents(cents));
}

function parseDestination(text: string): Parsed<string> {
  return text.length <= DESTINATION_CHARACTERS_MAX
    ? parsed(text)
    : unparsed(`must have at most ${String(DESTINATION_CHARACTERS_MAX)} characters`, "TOO_LONG");
}
