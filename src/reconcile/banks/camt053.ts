import { toCents } from "../../domain/values/cents.js";
import { type NairobiDay, nairobiDayOf, parseNairobiDay } from "../../domain/values/nairobi-day.js";
import { toUnixMillis } from "../../domain/values/time.js";
import { signed } from "../reconciliation.js";
import { StatementError } from "../statement-error.js";
import {
  balanceText,
  type BankBalance,
  type BankEntry,
  type BankPayment,
  type BankStatement,
  CURRENCY,
  decimalCents,
  ENTRIES_MAX,
  STATEMENTS_MAX,
} from "./bank-statement.js";
import { childrenAt, readXml, valueAt, type XmlElement } from "./xml.js";

const LAST_VERSION = 14;
/** Those whose schemas agree on what is read here. */
const NAMESPACES = Array.from(
  { length: LAST_VERSION - 1 },
  (_, index) => `urn:iso:std:iso:20022:tech:xsd:camt.053.001.${String(index + 2).padStart(2, "0")}`,
);
const PATH = ["Document", "BkToCstmrStmt", "Stmt"];
/** Schemas allow 35 characters, and banks write more. */
const ID_CHARACTERS_MAX = 100;
/** The fields of one payment in which a reference is looked for. */
const TYPED_MAX = 100;
const BOOKED = "BOOK";
const CHARGES = new Set(["CHRG", "COMM", "FEES"]);
const NO_REFERENCES = new Set(["NOTPROVIDED", "NONREF"]);

/** Where an element stands, as messages name it. */
interface Where {
  readonly where: string;
}

interface OpenStatement {
  id: string | undefined;
  page: string;
  account: string | undefined;
  readonly balances: Map<string, BankBalance>;
  readonly entries: BankEntry[];
  readonly doubts: string[];
  count: number;
  notBooked: number;
}

/**
 * Reads camt.053 of versions 02 to 14. Only entries that are booked count. The amount of an entry
 * is the truth: its details must add up to it.
 *
 * Throws a StatementError that names the line or the element.
 */
export function camt053Statements(xml: string): readonly BankStatement[] {
  const open: OpenStatement[] = [];
  let entries = 0;
  readXml(xml, {
    namespaces: NAMESPACES,
    path: PATH,
    onElement: (element, parent) => {
      if (parent > STATEMENTS_MAX) throw new StatementError(`It has more than ${String(STATEMENTS_MAX)} statements.`);
      const statement = (open[parent - 1] ??= newStatement());
      if (element.name === "Ntry") entries += Math.max(1, childrenAt(element, ["NtryDtls", "TxDtls"]).length);
      if (entries > ENTRIES_MAX) {
        throw new StatementError(`It has more than ${String(ENTRIES_MAX)} entries and details.`);
      }
      readElement(statement, element, { where: `statement ${statement.id ?? String(parent)}` });
    },
  });
  if (open.length === 0) throw new StatementError("It is no statement of camt.053, version 02 to 14: it has no Stmt.");
  return open.map(statementOf);
}

function newStatement(): OpenStatement {
  const entries: BankEntry[] = [];
  return {
    id: undefined,
    page: "",
    account: undefined,
    balances: new Map(),
    entries,
    doubts: [],
    count: 0,
    notBooked: 0,
  };
}

function readElement(statement: OpenStatement, element: XmlElement, { where }: Where): void {
  switch (element.name) {
    case "Id":
      statement.id = idIn(element.text.trim(), `${where}, Id`);
      break;
    case "StmtPgntn":
      statement.page = idIn(valueAt(element, "PgNb"), `${where}, StmtPgntn`) ?? "";
      break;
    case "Acct":
      statement.account = idIn(
        valueAt(element, "Id", "IBAN") ?? valueAt(element, "Id", "Othr", "Id"),
        `${where}, Acct`,
      );
      break;
    case "Bal": {
      const kind = valueAt(element, "Tp", "CdOrPrtry", "Cd");
      if (kind === undefined || !["OPBD", "PRCD", "CLBD"].includes(kind)) break;
      const place = { where: `${where}, balance ${kind}` };
      if (statement.balances.has(kind)) throw bad(place, "stands twice");
      statement.balances.set(kind, { cents: signed(movedIn(element, place)), day: dayIn(element, ["Dt"], place) });
      break;
    }
    case "Ntry":
      statement.count += 1;
      readEntry(statement, element, { where: `${where}, entry ${String(statement.count)}` });
      break;
  }
}

/** A message may show it. */
function idIn(text: string | undefined, where: string): string | undefined {
  if (text === undefined || text.length <= ID_CHARACTERS_MAX) return text;
  throw bad({ where }, `has more than ${String(ID_CHARACTERS_MAX)} characters`);
}

function statementOf({ id, page, account, balances, entries, doubts, notBooked }: OpenStatement): BankStatement {
  if (id === undefined || account === undefined) {
    throw new StatementError(`It is not valid camt.053: a statement lacks ${id === undefined ? "Id" : "Acct/Id"}.`);
  }
  return {
    id: page === "" ? id : `${id} page ${page}`,
    account,
    opening: balances.get("OPBD") ?? balances.get("PRCD"),
    closing: balances.get("CLBD"),
    entries,
    notBooked,
    doubts,
  };
}

function readEntry(statement: OpenStatement, entry: XmlElement, place: Where): void {
  const status = valueAt(entry, "Sts", "Cd") ?? valueAt(entry, "Sts");
  if (status === undefined) throw bad(place, "lacks Sts");
  // CdtDbtInd says what happened to the account, also of a reversal.
  const moved = movedIn(entry, place);
  if (status !== BOOKED || moved.amountCents === 0) {
    statement.notBooked += 1;
    return;
  }
  const details = childrenAt(entry, ["NtryDtls", "TxDtls"]);
  const [first, second] = details;
  const own = referencesOf(second === undefined ? [entry, first] : [entry], moved.direction);
  const payments = details.map((detail) => paymentIn(detail, moved.direction));
  const known = payments.flatMap((each) => each ?? []);
  const isWhole = known.length === details.length;
  const cents = known.reduce((sum, each) => sum + signed(each), 0);
  const isSum = details.length > 0 && isWhole && cents === signed(moved);
  if (isWhole && details.length > 0 && !isSum) {
    statement.doubts.push(
      `${capitalized(place.where)} has ${balanceText(signed(moved))}, and its details ${balanceText(cents)}: the entry counts.`,
    );
  }
  statement.entries.push({
    ...moved,
    day: dayIn(entry, ["BookgDt", "ValDt"], place),
    references: own,
    ...typedIn(second === undefined ? [first] : [], moved.direction),
    isReversal: ["true", "1"].includes(valueAt(entry, "RvslInd") ?? ""),
    isCharge: CHARGES.has(valueAt(entry, "BkTxCd", "Domn", "Fmly", "SubFmlyCd") ?? ""),
    parts: isSum && second !== undefined ? known.filter(({ amountCents }) => amountCents > 0) : [],
  });
}

/** Undefined if the detail has no amount in the currency of the account. */
function paymentIn(detail: XmlElement, ofEntry: "in" | "out"): BankPayment | undefined {
  const [amount = childrenAt(detail, ["AmtDtls", "TxAmt", "Amt"])[0]] = childrenAt(detail, ["Amt"]);
  const cents = amount?.attributes["Ccy"] === CURRENCY ? decimalCents(amount.text.trim()) : undefined;
  if (cents === undefined) return undefined;
  const direction = directionIn(detail) ?? ofEntry;
  const references = referencesOf([detail], direction);
  return { direction, amountCents: toCents(cents), references, ...typedIn([detail], direction) };
}

/** What the payer wrote for the owner of the account. */
function typedIn(details: readonly (XmlElement | undefined)[], direction: "in" | "out"): Pick<BankPayment, "typed"> {
  if (direction === "out") return {};
  const found = details.flatMap((detail) => detail ?? []);
  const typed = found.flatMap((detail) => [
    ...childrenAt(detail, ["RmtInf", "Ustrd"]).map(({ text }) => text.trim()),
    ...childrenAt(detail, ["RmtInf", "Strd", "CdtrRefInf", "Ref"]).map(({ text }) => text.trim()),
    valueAt(detail, "Refs", "EndToEndId") ?? "",
  ]);
  return { typed: typed.filter((each) => each !== "" && !NO_REFERENCES.has(each)).slice(0, TYPED_MAX) };
}

/** What a payer writes must not name a movement: the owner's references are of payments out. */
function referencesOf(elements: readonly (XmlElement | undefined)[], direction: "in" | "out"): readonly string[] {
  const found = elements.flatMap((element) => element ?? []);
  const at = (...path: readonly string[]): readonly string[] =>
    found.flatMap((element) => valueAt(element, ...path) ?? []);
  const banks = [...at("AcctSvcrRef"), ...at("Refs", "AcctSvcrRef")];
  const owners = [...at("Refs", "EndToEndId"), ...at("Refs", "InstrId"), ...at("NtryDtls", "Btch", "PmtInfId")];
  return (direction === "in" ? banks : [...banks, ...owners]).filter((each) => !NO_REFERENCES.has(each));
}

function movedIn(element: XmlElement, place: Where): Pick<BankPayment, "direction" | "amountCents"> {
  const [amount] = childrenAt(element, ["Amt"]);
  const currency = amount?.attributes["Ccy"];
  if (currency !== CURRENCY) throw bad(place, `has Amt in ${currency ?? "no currency"}, and not in ${CURRENCY}`);
  const cents = decimalCents(amount?.text.trim() ?? "");
  if (cents === undefined) throw bad(place, "has an Amt that is no amount such as 1000.00");
  const direction = directionIn(element);
  if (direction === undefined) throw bad(place, "lacks CdtDbtInd");
  return { direction, amountCents: toCents(cents) };
}

function directionIn(element: XmlElement): "in" | "out" | undefined {
  const mark = valueAt(element, "CdtDbtInd");
  return mark === "CRDT" ? "in" : mark === "DBIT" ? "out" : undefined;
}

/** Reads the first of the elements that is there. */
function dayIn(element: XmlElement, names: readonly string[], place: Where): NairobiDay {
  for (const name of names) {
    const day = dayOf(valueAt(element, name, "Dt"), valueAt(element, name, "DtTm"));
    if (day !== undefined) return day;
  }
  throw bad(place, `has no day in ${names.join(" or ")}`);
}

function dayOf(date: string | undefined, time: string | undefined): NairobiDay | undefined {
  const hasOffset = /^[\d-]{1,11}T.*(Z|[+-]\d{2}:\d{2})$/.test(time ?? "");
  const millis = hasOffset ? Date.parse(time ?? "") : NaN;
  if (date === undefined && !Number.isNaN(millis)) return nairobiDayOf(toUnixMillis(millis));
  // The type "date" of XML may have an offset behind it, and a time may have none.
  const day = parseNairobiDay((date ?? time ?? "").slice(0, 10));
  return day.ok ? day.value : undefined;
}

function capitalized(sentence: string): string {
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
}

function bad({ where }: Where, problem: string): StatementError {
  return new StatementError(`It is not valid camt.053: ${where} ${problem}.`);
}
