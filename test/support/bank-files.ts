// Writes the files of banks, and says how they are read.

import type { StatementForm } from "../../src/domain/statement-form.js";

/** Returns a form without a table, unless more is given. */
export function formOf(given: Partial<StatementForm>): StatementForm {
  return {
    source: "kcb",
    account: undefined,
    columns: undefined,
    dateOrder: undefined,
    referencePattern: undefined,
    ...given,
  };
}

interface Mt940 {
  readonly account?: string;
  readonly number?: string;
  readonly opening?: string;
  readonly closing?: string;
  readonly lines?: readonly string[];
}

/** Returns a statement in MT940, of one page. */
export function mt940({
  account = "01175/1234567890",
  number = "365",
  opening = "C261126KES0,",
  closing = "C261127KES0,",
  lines = [],
}: Mt940 = {}): string {
  return [":20:X", `:25:${account}`, `:28C:${number}`, `:60F:${opening}`, ...lines, `:62F:${closing}`, "-"].join("\n");
}

type Version = "02" | "08";

interface Detail {
  readonly version?: Version;
  readonly amount?: string;
  readonly bank?: string;
  readonly endToEnd?: string;
}

/** Returns the details of one payment. */
export function detail({ version = "02", amount, bank, endToEnd }: Detail): string {
  const references = `<Refs>${of("AcctSvcrRef", bank)}${of("EndToEndId", endToEnd)}</Refs>`;
  const money = amount === undefined ? "" : `<Amt Ccy="KES">${amount}</Amt>`;
  const moved = version === "02" ? `<AmtDtls><TxAmt>${money}</TxAmt></AmtDtls>` : `${money}<CdtDbtInd>DBIT</CdtDbtInd>`;
  return `<TxDtls>${references}${amount === undefined ? "" : moved}</TxDtls>`;
}

interface Entry {
  readonly version?: Version;
  readonly status?: string;
  readonly reversal?: boolean;
  readonly day?: string;
  readonly bank?: string;
  readonly details?: readonly string[];
}

/** Returns an entry of an amount such as "CRDT 10.00". */
export function entry(
  moved: string,
  { version = "02", status = "BOOK", reversal, day = "<Dt>2026-11-27</Dt>", bank, details = [] }: Entry = {},
): string {
  const [mark = "", amount = ""] = moved.split(" ");
  return `<Ntry><NtryRef>1</NtryRef><Amt Ccy="KES">${amount}</Amt><CdtDbtInd>${mark}</CdtDbtInd>
${reversal === true ? "<RvslInd>true</RvslInd>" : ""}<Sts>${version === "02" ? status : of("Cd", status)}</Sts>
<BookgDt>${day}</BookgDt>${of("AcctSvcrRef", bank)}<BkTxCd><Domn><Cd>PMNT</Cd></Domn></BkTxCd>
${details.length === 0 ? "" : of("NtryDtls", details.join("\n"))}</Ntry>`;
}

interface Camt053 {
  readonly version?: Version;
  readonly entries?: readonly string[];
  /** Such as "CLBD CRDT 1.00". */
  readonly balances?: readonly string[];
  readonly closing?: string;
}

/** Returns a statement in camt.053. */
export function camt053({ version = "02", entries = [], closing = "CRDT 0.00", balances }: Camt053 = {}): string {
  const told = balances ?? ["OPBD CRDT 0.00", `CLBD ${closing}`];
  return `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.${version}">
<BkToCstmrStmt><GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-11-27T23:00:00</CreDtTm></GrpHdr>
<Stmt><Id>S1</Id><CreDtTm>2026-11-27T23:00:00</CreDtTm><Acct><Id><Othr><Id>1234567890</Id></Othr></Id></Acct>
${told.map(balance).join("\n")}
${entries.join("\n")}
</Stmt></BkToCstmrStmt></Document>`;
}

function balance(text: string): string {
  const [kind = "", mark = "", amount = ""] = text.split(" ");
  return `<Bal><Tp><CdOrPrtry><Cd>${kind}</Cd></CdOrPrtry></Tp><Amt Ccy="KES">${amount}</Amt>
<CdtDbtInd>${mark}</CdtDbtInd><Dt><Dt>2026-11-27</Dt></Dt></Bal>`;
}

function of(name: string, text: string | undefined): string {
  return text === undefined ? "" : `<${name}>${text}</${name}>`;
}
