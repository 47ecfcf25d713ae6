import type { Command } from "commander";

import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import type { Finding } from "../../verify/findings.js";
import { decimalOf } from "../../verify/format.js";
import { type Verification, verify } from "../../verify/verify.js";
import { printJson, printLine } from "./output.js";

const BROKEN = 1;

/**
 * `kesc verify`: checks the books against the journal, also while servers run. Exits 1 when they do
 * not hold.
 */
export function addVerify(program: Command): void {
  program
    .command("verify")
    .description("derive every balance, reserve and final state from the journal, and compare")
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
  if (findingsCount === 0) return [`The books hold: ${counts}.`];
  const more = findingsCount - firstFindings.length;
  return [
    `The books do NOT hold. First broken: seq ${String(firstFindings[0]?.seq ?? "unknown")}.`,
    ...firstFindings.map((finding) => `  ${lineOf(finding)}`),
    ...(more > 0 ? [`  and ${String(more)} more`] : []),
    `Seen: ${counts}.`,
    "Stop the servers, keep a copy of the database, and compare the rows named above with a backup.",
  ];
}

function lineOf({ seq, table, id, expected, found }: Finding): string {
  const where = [`seq ${String(seq ?? "unknown")}`, table, ...(id === undefined ? [] : [id])].join(", ");
  return `${where}: expected ${expected}; found ${found}`;
}
