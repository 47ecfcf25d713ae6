import type { Command } from "commander";

import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import type { Finding } from "../../verify/findings.js";
import { decimalOf } from "../../verify/format.js";
import { type Verification, verify } from "../../verify/verify.js";
import { printJson, printLine } from "./output.js";

const BROKEN = 1;

/**
 * `kesc verify`: audits the books. Servers may run meanwhile. Exits with 1 if the books are wrong.
 */
export function addVerify(program: Command): void {
  program
    .command("verify")
    .description("audit the books: derive all balances and statuses from the journal, and compare them with the tables")
    .option("--json", "print JSON, for scripts")
    .action(async ({ json }: { json?: true }) => {
      const { database: address } = configFromEnvironment();
      const verification = await withCurrentDatabase(address, verify, { statementMillisMax: 0 });
      if (json === true) printJson(verificationJson(verification));
      else for (const line of linesOf(verification)) printLine(line);
      if (verification.findingsCount > 0) process.exitCode = BROKEN;
    });
}

function verificationJson(verification: Verification) {
  return {
    holds: verification.findingsCount === 0,
    journal_rows: verification.journalRows,
    accounts: verification.accounts,
    transactions: verification.transactions,
    organizations: verification.organizations,
    reserve: decimalOf(verification.reserveCents),
    first_broken_seq: verification.firstFindings[0]?.seq ?? null,
    findings_count: verification.findingsCount,
    first_findings: verification.firstFindings.map((finding) => ({ ...finding, seq: finding.seq ?? null })),
  };
}

function linesOf(verification: Verification): string[] {
  const { journalRows, accounts, transactions, organizations, reserveCents } = verification;
  const { findingsCount, firstFindings } = verification;
  const counts =
    `${String(journalRows)} journal rows, ${String(accounts)} accounts, ${String(transactions)} transactions, ` +
    `${String(organizations)} organizations, ${decimalOf(reserveCents)} KES in reserve`;
  if (findingsCount === 0) return [`The books are correct: ${counts}.`];
  const more = findingsCount - firstFindings.length;
  return [
    `The books are NOT correct. First error: seq ${String(firstFindings[0]?.seq ?? "unknown")}.`,
    ...firstFindings.map((finding) => `  ${lineOf(finding)}`),
    ...(more > 0 ? [`  and ${String(more)} more`] : []),
    `Checked: ${counts}.`,
    "Stop the servers, copy the database, and compare these rows with a backup.",
  ];
}

function lineOf({ seq, table, id, expected, found }: Finding): string {
  const where = [`seq ${String(seq ?? "unknown")}`, table, ...(id === undefined ? [] : [id])].join(", ");
  return `${where}: expected ${expected}; found ${found}`;
}
