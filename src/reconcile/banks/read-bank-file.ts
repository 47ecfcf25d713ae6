import { createHash } from "node:crypto";

import type { StatementForm } from "../../domain/statement-form.js";
import { StatementError } from "../statement-error.js";
import { type BankStatement, type JoinedStatement, joinedStatements } from "./bank-statement.js";
import { camt053Statements } from "./camt053.js";
import { isMt940, mt940Statements } from "./mt940.js";
import { tableOf, tableStatement } from "./named-columns.js";

/** The statements of one account, and the file that has them. */
export interface BankFile extends JoinedStatement {
  /** In hexadecimal. */
  readonly sha256: string;
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
export async function readBankFile(bytes: Buffer, form: StatementForm): Promise<BankFile> {
  const statements = await statementsIn(bytes, form);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { ...joinedStatements(statements, form.account), sha256 };
}

async function statementsIn(bytes: Buffer, form: StatementForm): Promise<readonly BankStatement[]> {
  const beginning = bytes.toString("utf8", 0, BEGINNING_BYTES).replace(BYTE_ORDER_MARK, "");
  if (XML.test(beginning)) return camt053Statements(xmlText(bytes, beginning));
  if (isMt940(beginning)) return mt940Statements(bytes.toString("utf8"));
  const table = tableOf(form);
  if (table === undefined) {
    throw new StatementError("It is neither MT940 nor camt.053. Say how the bank calls the columns of its table.");
  }
  return [await tableStatement(bytes, table)];
}

function xmlText(bytes: Buffer, beginning: string): string {
  const encoding = ENCODING.exec(beginning)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    throw new StatementError(`It is not valid XML: it cannot be read as ${encoding}.`, { cause: error });
  }
}
