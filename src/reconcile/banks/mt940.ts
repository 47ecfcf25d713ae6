import { toCents } from "../../domain/values/cents.js";
import { type NairobiDay, parseNairobiDay } from "../../domain/values/nairobi-day.js";
import { StatementError } from "../statement-error.js";
import {
  type BankBalance,
  type BankEntry,
  type BankStatement,
  CURRENCY,
  decimalCents,
  ENTRIES_MAX,
} from "./bank-statement.js";

/** A field of a message: the text after its tag, and the lines that continue it. */
interface Mt940Field {
  readonly tag: string;
  readonly line: number;
  text: string;
}

/** A message: one page of a statement. */
interface Mt940Page {
  readonly line: number;
  account?: string;
  /** The number of the statement, and that of the page behind a slash. */
  number?: string;
  opening?: BankBalance;
  isFirst: boolean;
  closing?: BankBalance;
  isLast: boolean;
  readonly entries: BankEntry[];
  notBooked: number;
}

const TAG = /^:(\d{2}[A-Z]?):(.*)$/;
const BALANCE = /^([CD])(\d{6})([A-Z]{3})(\d+,\d*)$/;
// Value date, entry date, mark, funds code, amount, kind, and both references.
const ENTRY = /^(\d{6})(\d{4})?(R?[CD])([A-Z])?(\d+,\d*)([NSF][A-Z0-9]{3})(.*)$/;
const AMOUNT_CHARACTERS_MAX = 15;
/** Of an account and of a number: the standard has 35 and 16. A message may show them. */
const ID_CHARACTERS_MAX = 100;
const CHARGES = /^.(CHG|COM)$/;
const NO_REFERENCE = "NONREF";

/** Returns whether the text begins as MT940 does: with a block or with the first field. */
export function isMt940(beginning: string): boolean {
  return /^\s*(\{1:|:20:)/.test(beginning);
}

/**
 * Reads MT940, with or without SWIFT's blocks around its messages. A statement may have several
 * pages, and a file several statements.
 *
 * Throws a StatementError that names the line.
 */
export function mt940Statements(text: string): readonly BankStatement[] {
  const pages: Mt940Page[] = [];
  let entries = 0;
  for (const field of fieldsOf(text)) {
    if (field.tag === "61") entries += 1;
    if (entries > ENTRIES_MAX) throw new StatementError(`It has more than ${String(ENTRIES_MAX)} entries.`);
    if (field.tag === "20") pages.push(newPage(field));
    const page = pages.at(-1);
    if (page === undefined) throw bad(field, "stands before the field :20:");
    readField(page, field);
  }
  const statements: BankStatement[] = [];
  let open: Mt940Page[] = [];
  for (const page of pages) {
    checkWhole(page);
    const before = open.at(-1);
    if ((before === undefined) !== page.isFirst) {
      throw bad(page, before === undefined ? "begins with :60M:, and no page stands before" : "lacks :62F: before it");
    }
    if (before !== undefined && !isNextPage(before, page)) throw bad(page, "is not the next page of the statement");
    open.push(page);
    if (!page.isLast) continue;
    statements.push(statementOf(open));
    open = [];
  }
  const [unended] = open;
  if (unended !== undefined) throw bad(unended, "begins a statement whose last page is missing: nothing has :62F:");
  return statements;
}

function newPage({ line }: Mt940Field): Mt940Page {
  return { line, isFirst: false, isLast: false, entries: [], notBooked: 0 };
}

function* fieldsOf(text: string): Generator<Mt940Field, void, void> {
  let field: Mt940Field | undefined;
  for (const [index, raw] of text.split(/\r\n|\n|\r/).entries()) {
    const line = index + 1;
    const isEnd = raw === "-" || raw.startsWith("-}");
    const [, tag, rest = ""] = TAG.exec(raw.slice(blocksBefore(raw))) ?? [];
    if (field !== undefined && (isEnd || tag !== undefined)) {
      yield field;
      field = undefined;
    }
    if (tag !== undefined) field = { tag, line, text: rest.trimEnd() };
    else if (isEnd || raw.trim() === "") continue;
    else if (field !== undefined) field.text += `\n${raw.trimEnd()}`;
    else if (!raw.startsWith("{")) throw bad({ line }, "is no field of MT940");
  }
  if (field !== undefined) yield field;
}

/** The first field may stand behind the blocks of SWIFT. */
function blocksBefore(line: string): number {
  return line.startsWith("{") || line.startsWith("-}") ? line.indexOf("{4:") + "{4:".length : 0;
}

function readField(page: Mt940Page, field: Mt940Field): void {
  const { tag } = field;
  switch (tag) {
    case "25":
    case "25P":
      page.account = idIn(field);
      break;
    case "28":
    case "28C":
      page.number = idIn(field);
      break;
    case "60F":
    case "60M":
      page.opening = balanceIn(field);
      page.isFirst = tag === "60F";
      break;
    case "61": {
      const entry = entryIn(field);
      if (entry.amountCents > 0) page.entries.push(entry);
      else page.notBooked += 1;
      break;
    }
    case "62F":
    case "62M":
      page.closing = balanceIn(field);
      page.isLast = tag === "62F";
      break;
  }
}

function idIn(field: Mt940Field): string {
  const id = field.text.trim();
  if (id.length > ID_CHARACTERS_MAX) throw bad(field, `has more than ${String(ID_CHARACTERS_MAX)} characters`);
  if (/\p{Cc}/u.test(id)) throw bad(field, "has a character that cannot be printed");
  return id;
}

function checkWhole(page: Mt940Page): void {
  const { account, number, opening, closing } = page;
  const needed = { ":25:": account, ":28C:": number, ":60F:": opening, ":62F:": closing };
  const [missing] = Object.entries(needed).flatMap(([tag, value]) => (value === undefined ? [tag] : []));
  if (missing !== undefined) throw bad(page, `begins a statement without ${missing}`);
}

function isNextPage(before: Mt940Page, page: Mt940Page): boolean {
  const statement = ({ number = "" }: Mt940Page): string | undefined => number.split("/")[0];
  return (
    page.account === before.account &&
    statement(page) === statement(before) &&
    page.opening?.cents === before.closing?.cents
  );
}

function statementOf(pages: readonly Mt940Page[]): BankStatement {
  const [first] = pages;
  const last = pages.at(-1);
  return {
    // Numbers begin again each year.
    id: `${first?.number?.split("/")[0] ?? ""} of ${last?.closing?.day ?? ""}`,
    account: first?.account,
    opening: first?.opening,
    closing: last?.closing,
    entries: pages.flatMap(({ entries }) => entries),
    notBooked: pages.reduce((sum, { notBooked }) => sum + notBooked, 0),
    doubts: [],
  };
}

function balanceIn(field: Mt940Field): BankBalance {
  const [, mark, date = "", currency, amount = ""] = BALANCE.exec(field.text) ?? [];
  if (mark === undefined) throw bad(field, `has no balance such as C261127${CURRENCY}1000,00`);
  if (currency !== CURRENCY) throw bad(field, `has the currency ${String(currency)}, and not ${CURRENCY}`);
  const cents = centsIn(field, amount);
  return { cents: mark === "D" ? -cents : cents, day: dayIn(field, `20${date}`) };
}

/** RC takes a credit back: money went out. RD takes a debit back: money came in. */
function entryIn(field: Mt940Field): BankEntry {
  const [statementLine = ""] = field.text.split("\n");
  const [, value = "", entry, mark, , amount = "", kind = "", references = ""] = ENTRY.exec(statementLine) ?? [];
  if (mark === undefined) throw bad(field, "has no entry such as 2611271127C1000,00NTRFNONREF//FT26331A1");
  const direction = mark === "C" || mark === "RD" ? "in" : "out";
  const valueDay = dayIn(field, `20${value}`);
  const [owners = "", ...banks] = references.split("//");
  const bank = banks.join("//");
  // What a payer writes must not name a movement, if the bank gives a number of its own.
  const given = direction === "in" && bank !== "" ? [bank] : [bank, owners];
  const typed = [owners.trim()].filter((each) => each !== "" && each !== NO_REFERENCE);
  return {
    day: entry === undefined ? valueDay : entryDay(field, valueDay, entry),
    direction,
    amountCents: toCents(centsIn(field, amount)),
    references: given.map((each) => each.trim()).filter((each) => each !== "" && each !== NO_REFERENCE),
    isReversal: mark.startsWith("R"),
    isCharge: CHARGES.test(kind),
    parts: [],
    ...(direction === "in" ? { typed } : {}),
  };
}

function centsIn(field: Mt940Field, amount: string): number {
  const cents = amount.length > AMOUNT_CHARACTERS_MAX ? undefined : decimalCents(amount.replace(",", "."));
  if (cents === undefined) throw bad(field, "has no amount such as 1000,00");
  return cents;
}

function dayIn(field: Mt940Field, digits: string): NairobiDay {
  const day = parseNairobiDay(digits.replace(/^(\d{4})(\d{2})(\d{2})$/, "$1-$2-$3"));
  if (!day.ok) throw bad(field, "has a date that is no day");
  return day.value;
}

/** The entry date has no year: it is the one nearest to the value date, and never the clock's. */
function entryDay(field: Mt940Field, value: NairobiDay, monthAndDay: string): NairobiDay {
  const year = Number(value.slice(0, 4));
  const distance = (day: NairobiDay): number => Math.abs(Date.parse(day) - Date.parse(value));
  const days = [year - 1, year, year + 1].flatMap((each) => {
    const day = parseNairobiDay(`${String(each)}-${monthAndDay.slice(0, 2)}-${monthAndDay.slice(2)}`);
    return day.ok ? [day.value] : [];
  });
  const [nearest] = days.sort((one, other) => distance(one) - distance(other));
  return nearest ?? dayIn(field, `${String(year)}${monthAndDay}`);
}

function bad({ line, tag }: { readonly line: number; readonly tag?: string }, problem: string): StatementError {
  return new StatementError(
    `It is not valid MT940: line ${String(line)}${tag === undefined ? "" : ` (:${tag}:)`} ${problem}.`,
  );
}
