import { isSourceOfRail, parseReceipt } from "./receipt.js";
import { isOfMachine, WEBHOOKS } from "./values/actor.js";
import { type Parsed, parsed, unparsed } from "./values/parsed.js";
import { parseDescription, parseName } from "./values/text.js";

/** What a column of a bank's table can be. */
export const BANK_COLUMNS = ["date", "amount", "debit", "credit", "balance", "reference", "text"] as const;
export type BankColumn = (typeof BANK_COLUMNS)[number];
/** The bank's own names of the columns that its table has. */
export type BankColumns = Readonly<Partial<Record<BankColumn, string>>>;

/** Which number of a date such as 01/02/2026 is the day: the first or the second. */
export const DATE_ORDERS = ["DAY_FIRST", "MONTH_FIRST"] as const;
export type BankDateOrder = (typeof DATE_ORDERS)[number];

/** How the statements of a place are read. */
export interface StatementForm {
  /** The source of the place's receipts, such as kcb-1234. It is the author of its charges, too. */
  readonly source: string;
  /** Needed for a file with several accounts; another account is refused. */
  readonly account: string | undefined;
  /** Undefined: only MT940 and camt.053 can be read, which say themselves what they are. */
  readonly columns: BankColumns | undefined;
  /** Undefined: a date that may be either is refused. */
  readonly dateOrder: BankDateOrder | undefined;
  /** A regular expression for the bank's number in the column `reference`, or else in `text`. */
  readonly referencePattern: string | undefined;
}

/** Returns the form as a book stores it. */
export function formText({ source, account, columns, dateOrder, referencePattern }: StatementForm): string {
  return JSON.stringify({ source, account, columns, date_order: dateOrder, reference_pattern: referencePattern });
}

/** Reads what `formText` wrote. */
export function formFromText(text: string): StatementForm {
  const form = JSON.parse(text) as Pick<StatementForm, "source"> &
    Partial<Pick<StatementForm, "account" | "columns">> & {
      readonly date_order?: BankDateOrder;
      readonly reference_pattern?: string;
    };
  const { source, account, columns, date_order: dateOrder, reference_pattern: referencePattern } = form;
  return { source, account, columns, dateOrder, referencePattern };
}

/** Returns how the statements of a place are read of which nobody has said it. */
export function defaultForm(place: string): Parsed<StatementForm> {
  const source = parsePlaceSource("", place);
  if (!source.ok) return { ...source, key: "source" };
  const nothing = { account: undefined, columns: undefined, dateOrder: undefined, referencePattern: undefined };
  return parsed({ source: source.value, ...nothing });
}

/** Returns the source of the receipts of a place. Undefined if its name makes none. */
export function sourceOfPlace(place: string, form: StatementForm | undefined): string | undefined {
  if (form !== undefined) return form.source;
  const named = defaultForm(place);
  return named.ok ? named.value.source : undefined;
}

/** Parses the source of a place's receipts. Without one, "KCB 1234" has kcb-1234. */
export function parsePlaceSource(unchecked: string, place: string): Parsed<string> {
  const source = unchecked === "" ? sourceLike(place) : unchecked;
  const receipt = parseReceipt({ source, number: "1" });
  if (!receipt.ok && receipt.key === "source") {
    return source === "" ? unparsed("is required: the name of the place has no letter of a to z", "REQUIRED") : receipt;
  }
  if (isSourceOfRail(source)) return unparsed(`must not be ${source}: that is a rail`, "RESERVED");
  // The author of a charge would look like another one.
  if (isOfMachine(source) || source === WEBHOOKS) return unparsed(`must not be ${source}`, "RESERVED");
  return parsed(source);
}

function sourceLike(place: string): string {
  return place
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}

/** Parses the names of columns. An empty one is left out, and with no name there is no table. */
export function parseBankColumns(unchecked: BankColumns): Parsed<BankColumns | undefined> {
  const named = BANK_COLUMNS.flatMap((column) => {
    const name = unchecked[column] ?? "";
    return name === "" ? [] : [{ column, name }];
  });
  if (named.length === 0) return parsed(undefined);
  for (const { column, name } of named) {
    const label = parseName(name);
    if (!label.ok) return { ...label, key: column };
  }
  const has = (wanted: BankColumn): boolean => named.some(({ column }) => column === wanted);
  const hasAmount = has("amount") ? !has("debit") && !has("credit") : has("debit") && has("credit");
  if (!has("date") || !hasAmount) return unparsed("must name date, and amount or else debit and credit", "REQUIRED");
  const names = named.map(({ name }) => plainCell(name));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return unparsed(`must name each column once, and "${twice}" stands twice`, "CONFLICT");
  return parsed(Object.fromEntries(named.map(({ column, name }) => [column, name])));
}

/** The names of two columns are the same if these are. */
export function plainCell(cell: string): string {
  return cell.replaceAll(/\s+/g, " ").trim().toLowerCase();
}

/** Parses a regular expression. The empty text means none. */
export function parseReferencePattern(unchecked: string): Parsed<string | undefined> {
  if (unchecked === "") return parsed(undefined);
  const text = parseDescription(unchecked);
  if (!text.ok) return text;
  try {
    new RegExp(unchecked, "u");
    return parsed(unchecked);
  } catch {
    return unparsed("must be a regular expression such as FT[0-9A-Z]+");
  }
}
