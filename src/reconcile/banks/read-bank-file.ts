import { StatementError } from "../statement-error.js";
import { type JoinedStatement, joinedStatements } from "./bank-statement.js";
import { camt053Statements } from "./camt053.js";
import { isMt940, mt940Statements } from "./mt940.js";
import { type BankTable, tableStatement } from "./named-columns.js";

interface BankFileOptions {
  /** Undefined: only MT940 and camt.053 can be read. */
  readonly table: BankTable | undefined;
  /** Needed for a file with several accounts; another account is refused. */
  readonly account: string | undefined;
}

const BEGINNING_BYTES = 1_024;
const BYTE_ORDER_MARK = /^\uFEFF/;
const XML = /^\s*<(\?xml|([\w.-]+:)?Document)\s/;
const ENCODING = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.-]+)["']/;

/**
 * Reads the file of a bank: camt.053, MT940, or else a table. What it is, its beginning says.
 *
 * Rejects with a StatementError. Half a statement proves nothing, so nothing is read in part.
 */
export async function readBankFile(bytes: Buffer, { table, account }: BankFileOptions): Promise<JoinedStatement> {
  const beginning = bytes.toString("utf8", 0, BEGINNING_BYTES).replace(BYTE_ORDER_MARK, "");
  if (XML.test(beginning)) return joinedStatements(camt053Statements(xmlText(bytes, beginning)), account);
  if (isMt940(beginning)) return joinedStatements(mt940Statements(bytes.toString("utf8")), account);
  if (table === undefined) {
    throw new StatementError("It is neither MT940 nor camt.053. Say with --columns how the bank writes its table.");
  }
  return joinedStatements([await tableStatement(bytes, table)], account);
}

function xmlText(bytes: Buffer, beginning: string): string {
  const encoding = ENCODING.exec(beginning)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    throw new StatementError(`It is not valid XML: it cannot be read as ${encoding}.`, { cause: error });
  }
}
