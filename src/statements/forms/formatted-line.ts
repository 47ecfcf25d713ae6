/** A google.protobuf.Timestamp. */
interface Timestamp {
  readonly seconds: bigint;
  readonly nanos: number;
}

type Value = string | bigint | Timestamp | undefined;

/** A line of an export, with the fields of the contract. */
export type FormattedLine = Readonly<Record<string, Value>>;

/** Writes an export. The parts, joined, are the file. */
export interface LineFormat {
  /** `names` are the fields of a line, in their order. */
  begin(names: readonly string[]): string | Uint8Array;
  lines(lines: readonly FormattedLine[]): string | Uint8Array;
  end(): string | Uint8Array;
}

/** The fields that hold an amount of KES. */
export const AMOUNTS: ReadonlySet<string> = new Set([
  "amount",
  "stated_amount",
  "amount_in",
  "amount_out",
  "debit",
  "credit",
  "balance",
  "available_balance",
  "held_balance",
]);
/** The field that holds another number. */
const SEQUENCE = "sequence";
/** The fields that hold a day in Kenya. */
export const DAYS: ReadonlySet<string> = new Set(["date", "as_of_day"]);
const DIGITS = /^-?[0-9]+(\.[0-9]+)?$/;

/** Returns the text of a field. Empty if it is absent. */
export function textIn(line: FormattedLine, name: string): string {
  const value = line[name];
  if (value === undefined) return "";
  if (typeof value !== "object") return String(value);
  return new Date(Number(value.seconds) * 1_000 + value.nanos / 1_000_000).toISOString();
}

/** Whether the text of a field is the digits of a number. */
export function isNumber(name: string, text: string): boolean {
  return (name === SEQUENCE || AMOUNTS.has(name)) && DIGITS.test(text);
}
