import { type FormattedLine, type LineFormat, textIn } from "./formatted-line.js";

/** The names of the book accounts in programs of plain-text accounting. */
const NAMES: Readonly<Record<string, string>> = {
  reserve: "Assets:Reserve",
  shortfall: "Assets:Shortfall",
  charges: "Assets:Charges",
  available: "Liabilities:Available",
  held: "Liabilities:Held",
  unallocated: "Liabilities:Unallocated",
};
/** The fields that a posting keeps as metadata, by their names there. */
const METADATA = {
  sequence: "sequence",
  recorded_at: "recorded_at",
  type: "type",
  rail_receipt: "receipt",
  source: "source",
  transaction_id: "transaction",
  reference: "reference",
  description: "description",
  account_id: "account",
  user_id: "user",
  note: "note",
} as const;
const DAY_MILLIS = 86_400_000;

/** The words of one program. */
interface Dialect {
  readonly head: string;
  /** Declares what the file uses, from a day on. */
  readonly declarations: (day: string) => string;
  readonly begin: (day: string, what: string, sequence: string) => string;
  readonly metadata: (name: string, text: string) => string;
  /** Asserts balances at the end of a day. */
  readonly assertion: (day: string, balances: readonly (readonly [name: string, amount: string])[]) => string;
}

const INTRODUCTION =
  "The general ledger of kesc. Debts to users are below zero. Balances are asserted at the end of each day in Kenya.";

/** hledger and ledger read the same text. */
const HLEDGER: Dialect = {
  head: `; ${INTRODUCTION}\n\ncommodity KES\n    format 1000.00 KES\n\n`,
  declarations: () =>
    Object.values(NAMES)
      .map((name) => `account ${name}\n`)
      .join(""),
  begin: (day, what, sequence) => `\n${day} * ${sequence === "" ? "" : `(${sequence}) `}${what}\n`,
  // ledger takes a bracket before a digit for a date.
  metadata: (name, text) => `    ; ${name}: ${text.replaceAll(/\[(?=[0-9=])/g, "[ ")}\n`,
  assertion: (day, balances) =>
    `\n${day} * balances at the end of the day\n` +
    balances.map(([name, amount]) => `    ${name}  0.00 KES = ${amount} KES\n`).join(""),
};

const BEANCOUNT: Dialect = {
  head: `;; ${INTRODUCTION}\n\noption "operating_currency" "KES"\n\n`,
  declarations: (day) =>
    Object.values(NAMES)
      .map((name) => `${day} open ${name} KES\n`)
      .join(""),
  begin: (day, what) => `\n${day} * "${what}"\n`,
  metadata: (name, text) => `  ${name}: "${text.replaceAll(/["\\]/g, String.raw`\$&`)}"\n`,
  // A balance holds for the beginning of its day. Without the tolerance one cent more would pass.
  assertion: (day, balances) =>
    `\n${balances.map(([name, amount]) => `${dayAfter(day)} balance ${name}  ${amount} ~ 0 KES\n`).join("")}`,
};

export const DIALECTS = { hledger: HLEDGER, beancount: BEANCOUNT } as const;

/**
 * Writes the lines of a general ledger, with "opening" and "closing", for a program of plain-text
 * accounting. Each posting is one entry, and each day with entries ends with the balances.
 */
export function plainText(dialect: Dialect): LineFormat {
  const balances = new Map<string, string>();
  let day: string | undefined;
  const asserted = (): string =>
    day === undefined
      ? ""
      : dialect.assertion(
          day,
          [...balances].map(([account, amount]) => [nameOf(account), amount]),
        );

  const entry = (line: FormattedLine): string => {
    const [account, date] = [textIn(line, "book_account"), textIn(line, "date")];
    // The debit comes first, and begins the entry.
    const isBegin = line["debit"] !== undefined;
    const ended = isBegin && day !== date ? asserted() : "";
    day = date;
    balances.set(account, signed(account, textIn(line, "balance")));
    if (!isBegin) return postingOf(account, `-${textIn(line, "credit")}`);
    const metadata = Object.entries(METADATA).flatMap(([field, name]) => {
      const text = textIn(line, field);
      return text === "" ? [] : [dialect.metadata(name, text)];
    });
    const begin = dialect.begin(date, textIn(line, "kind"), textIn(line, "sequence"));
    return [ended, begin, ...metadata, postingOf(account, textIn(line, "debit"))].join("");
  };

  const opening = (line: FormattedLine): string => {
    const account = textIn(line, "book_account");
    const date = textIn(line, "date");
    const isFirst = balances.size === 0;
    balances.set(account, signed(account, textIn(line, "balance")));
    const begin = isFirst ? `${dialect.declarations(date)}${dialect.begin(date, "opening balances", "")}` : "";
    return `${begin}${postingOf(account, balances.get(account) ?? "")}`;
  };

  const textOf = (line: FormattedLine): string => {
    if (line["type"] === "opening") return opening(line);
    if (line["type"] !== "closing") return entry(line);
    // The closing balances are those after the last entry.
    const last = asserted();
    day = undefined;
    return last;
  };

  return { begin: () => dialect.head, lines: (lines) => lines.map(textOf).join(""), end: () => "" };
}

function postingOf(account: string, amount: string): string {
  return `    ${nameOf(account)}  ${amount} KES\n`;
}

function nameOf(account: string): string {
  return NAMES[account] ?? account;
}

/** A debt is a credit, so its balance is below zero. */
function signed(account: string, balance: string): string {
  if (nameOf(account).startsWith("Assets:")) return balance;
  return balance.startsWith("-") ? balance.slice(1) : /[1-9]/.test(balance) ? `-${balance}` : balance;
}

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MILLIS).toISOString().slice(0, 10);
}
