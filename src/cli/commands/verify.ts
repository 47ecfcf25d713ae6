import { constants } from "node:os";

import type { Command } from "commander";

import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { invocation, lowerPriority } from "../../startup/invocation.js";
import { isDamage, withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { publicSealKeys } from "../../startup/seal-keys.js";
import type { Database } from "../../storage/database.js";
import type { SealEvidence } from "../../verify/audit.js";
import { type Coverage, NOT_COVERED } from "../../verify/coverage.js";
import type { Finding } from "../../verify/findings.js";
import { decimalOf } from "../../verify/format.js";
import { HeadsFileError, type NotedHeads, readHeads, writeHeads } from "../../verify/heads.js";
import { BESIDE_A_SERVER, FULL_SPEED } from "../../verify/pace.js";
import { openPublishedCopy, PublishedCopyError } from "../../verify/published-copy.js";
import { type Verification, verify } from "../../verify/verify.js";
import { METRICS_FILE, verifyMetrics, writeMetricsFile } from "../metrics-file.js";
import { ProgressLine } from "../terminal.js";
import { WITNESSES, witnessesIn } from "../witnesses.js";
import { printJson, printLine, timeOf } from "./output.js";

const BROKEN = 1;
/** The audit could not be done, or its result could not be written. */
const NOT_AUDITED = 3;
/** The heads that the last line names. The others are in the JSON. */
const HEADS_SHOWN_MAX = 3;

/** How often an audit says where it is, where no terminal shows it. */
const PROGRESS_MILLIS = 10_000;

interface VerifyCommandOptions {
  readonly json?: true;
  readonly heads?: string;
  readonly writeHeads?: string;
  readonly published?: string;
  readonly witnesses?: string;
  readonly fullSpeed?: true;
  readonly metricsFile?: string;
}

/**
 * `kesc verify`: audits the books. Servers may run meanwhile. Exits with 1 if the books are wrong
 * or the file is damaged, and with 3 if the audit could not be done.
 */
export function addVerify(program: Command): void {
  program
    .command("verify")
    .description("audit the books: derive them again from the journal, and compare every table and the schema")
    .option("--json", "print JSON, for scripts")
    .option("--heads <file>", "also compare the books with the heads that --write-heads noted earlier")
    .option("--write-heads <file>", "note the last row of each book in this file, if the books are correct")
    .option("--published <folder>", "also compare each row with what kesc seal publish wrote, or a copy of it")
    .option(...WITNESSES)
    .option(...METRICS_FILE)
    .option(
      "--full-speed",
      "do not leave nine tenths of a core to a server: an audit then takes about a tenth of the time",
    )
    .action(async (options: VerifyCommandOptions) => {
      invocation().failedExitCode = NOT_AUDITED;
      try {
        await runVerify(options);
      } catch (error) {
        if (isDamage(error) || (error instanceof OperatorError && isDamage(error.cause))) {
          invocation().failedExitCode = BROKEN;
        }
        throw error;
      }
    });
}

async function runVerify(options: VerifyCommandOptions): Promise<void> {
  const { json, heads, writeHeads: target, metricsFile } = options;
  const noted = heads === undefined ? undefined : notedHeadsIn(heads);
  const verification = await auditWith(options, noted);
  const isCorrect = verification.findingsCount === 0;
  if (!isCorrect) invocation().exitCode = invocation().failedExitCode = BROKEN;
  if (metricsFile !== undefined) writeMetricsFile(metricsFile, verifyMetrics(now(), verification.findingsCount));
  if (isCorrect && target !== undefined) noteHeads(target, verification.coverage);
  if (json === true) printJson(verificationJson(verification));
  else for (const line of verificationLines(verification, noted)) printLine(line);
  if (!isCorrect && target !== undefined) throw new OperatorError(`The heads file ${target} was not written.`);
}

async function auditWith(
  { json, published, witnesses, fullSpeed }: VerifyCommandOptions,
  notedHeads: NotedHeads | undefined,
): Promise<Verification> {
  const { database: address, seals } = configFromEnvironment();
  const progress = new ProgressLine(invocation().stderr, {
    isWanted: json !== true,
    writesEveryMillis: PROGRESS_MILLIS,
  });
  progress.show(0, 0, " journal rows");
  const options = {
    notedHeads,
    seals: sealEvidence(seals, published, witnesses),
    pace: fullSpeed === true ? FULL_SPEED : BESIDE_A_SERVER,
    onRows: (read: number, total: number) => {
      progress.show(read, total, " journal rows");
    },
  };
  const audit = (database: Database): Promise<Verification> => {
    // A server on the same machine goes first. The audit takes the time that is left. Opening has a
    // deadline, so that came before.
    lowerPriority(constants.priority.PRIORITY_LOW);
    return verify(database, options);
  };
  return withCurrentDatabase(address, audit, { statementMillisMax: 0, onlyReads: true }).finally(() => {
    progress.clear();
  });
}

/** Reads the keys of seals, and opens a published copy. Throws an OperatorError. */
export function sealEvidence(
  { keyFile }: { readonly keyFile: string },
  folder: string | undefined,
  witnessesFile?: string,
): SealEvidence {
  const witnesses = witnessesIn(witnessesFile);
  if (folder === undefined && witnessesFile !== undefined)
    throw new OperatorError("--witnesses needs --published: the cosignatures are beside the published checkpoints.");
  const { publicKeys, arrivedKeys } = publicSealKeys({ keyFile });
  const keys = { publicKeys, arrivedKeys };
  if (folder === undefined) return { ...keys, published: undefined };
  try {
    return { ...keys, published: openPublishedCopy(folder, keys, witnesses) };
  } catch (error) {
    if (!(error instanceof PublishedCopyError)) throw error;
    throw new OperatorError(`The published copy ${folder} cannot be used: ${error.message}.`, { cause: error });
  }
}

/** Reads a file of heads. Throws an OperatorError. */
export function notedHeadsIn(filename: string): NotedHeads {
  try {
    return readHeads(filename);
  } catch (error) {
    if (!(error instanceof HeadsFileError)) throw error;
    const advice = "Take an earlier copy, or note the heads anew: kesc verify --write-heads FILE";
    throw new OperatorError(`The heads file ${filename} cannot be used: ${error.message}. ${advice}`, { cause: error });
  }
}

function noteHeads(filename: string, { heads, otherHeads }: Coverage): void {
  try {
    writeHeads(filename, [...heads, ...otherHeads]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`The heads file ${filename} cannot be written: ${reason}`, { cause: error });
  }
}

/** Returns the JSON of `kesc verify --json`. */
export function verificationJson({
  coverage,
  findingsCount,
  firstFindings,
}: Verification): Readonly<Record<string, unknown>> {
  return {
    holds: findingsCount === 0,
    first_broken_seq: firstFindings[0]?.seq ?? null,
    findings_count: findingsCount,
    first_findings: firstFindings.map(({ organizationId, seq, table, id, expected, found }) => ({
      organization_id: organizationId ?? null,
      seq: seq ?? null,
      table,
      id: id ?? null,
      expected,
      found,
    })),
    coverage: {
      organizations: coverage.organizations,
      journal_rows: coverage.journalRows,
      accounts: coverage.accounts,
      transactions: coverage.transactions,
      idempotency_keys: coverage.idempotencyKeys,
      api_keys: coverage.apiKeys,
      erased_holders: coverage.erasedHolders,
      seals: coverage.seals,
      published_books: coverage.publishedBooks,
      cosignatures: coverage.cosignatures ?? null,
      reserve: decimalOf(coverage.reserveCents),
      last_recorded_at: timeOf(coverage.lastRecordedAt),
      acts_without_person: actsJson(coverage),
      not_audited: coverage.notAudited.map(({ organizationId, phase, since }) => ({
        organization_id: organizationId,
        phase,
        since: timeOf(since),
      })),
      heads: coverage.heads.map(({ organizationId, seq, contentHash }) => ({
        organization_id: organizationId,
        seq,
        content_hash: contentHash,
      })),
      not_covered: NOT_COVERED,
    },
  };
}

function actsJson({ actsWithoutPerson: { count, newest } }: Coverage): Readonly<Record<string, unknown>> {
  if (newest === undefined) return { count, newest: null };
  const { organizationId, seq, kind, recordedAt } = newest;
  return { count, newest: { organization_id: organizationId ?? null, seq, kind, recorded_at: timeOf(recordedAt) } };
}

/** Returns the verdict on the books, and what the audit covers. */
export function verificationLines(verification: Verification, noted: NotedHeads | undefined): string[] {
  const { coverage, findingsCount, firstFindings } = verification;
  const last = coveredLine(coverage, noted);
  const beside = [...notAuditedLines(coverage), ...actsLines(coverage)];
  if (findingsCount === 0) return [`The books are correct: ${countsOf(coverage)}.`, ...beside, last];
  return [
    `The books are NOT correct. First error: seq ${String(firstFindings[0]?.seq ?? "unknown")}.`,
    ...findingLines(verification),
    `Checked: ${countsOf(coverage)}.`,
    ...beside,
    "Stop the servers, copy the database, and compare these rows with a backup.",
    last,
  ];
}

/** Returns a line for each of the first findings. */
export function findingLines({ findingsCount, firstFindings }: Verification): string[] {
  const more = findingsCount - firstFindings.length;
  return [
    ...firstFindings.map((finding) => `  ${lineOf(finding)}`),
    ...(more > 0 ? [`  and ${String(more)} more`] : []),
  ];
}

function notAuditedLines({ notAudited }: Coverage): readonly string[] {
  if (notAudited.length === 0) return [];
  const books = notAudited.map(({ organizationId, phase, since }) => {
    const what = phase === "COPYING" ? "is being copied here" : "has moved away, and its rows are removed";
    return `${organizationId} ${what} (${phase} since ${timeOf(since)})`;
  });
  return [`${String(notAudited.length)} book${books.length === 1 ? "" : "s"} not audited: ${books.join(", ")}.`];
}

/** Says how many acts name no person. They are allowed, so they are no finding. */
function actsLines({ actsWithoutPerson: { count, newest } }: Coverage): readonly string[] {
  if (newest === undefined) return [];
  const { organizationId = "operators", seq, kind, recordedAt } = newest;
  const acts =
    count === 1 ? "1 act since the first operator names" : `${String(count)} acts since the first operator name`;
  const place = `${organizationId}, seq ${String(seq)}, ${printable(kind)}`;
  return [`${acts} no person: made on the database. The newest: ${place}, at ${timeOf(recordedAt)}.`];
}

function countsOf(coverage: Coverage): string {
  const { journalRows, accounts, transactions, organizations, reserveCents } = coverage;
  return (
    `${String(journalRows)} journal rows, ${String(accounts)} accounts, ${String(transactions)} transactions, ` +
    `${String(organizations)} organizations, ${decimalOf(reserveCents)} KES in reserve`
  );
}

/** Says what the audit covers, up to which rows, and what it leaves out. */
function coveredLine(coverage: Coverage, noted: NotedHeads | undefined): string {
  const { heads, idempotencyKeys, apiKeys, erasedHolders, lastRecordedAt } = coverage;
  const shown = heads
    .slice(0, HEADS_SHOWN_MAX)
    .map(({ organizationId, seq }) => `${organizationId} up to seq ${String(seq)}`);
  const more = heads.length - shown.length;
  const compared = heads.filter(({ organizationId }) => noted?.has(organizationId)).length;
  return [
    `Covered: ${[...shown, ...(more > 0 ? [`${String(more)} more books`] : [])].join(", ") || "no book"}`,
    `until ${timeOf(lastRecordedAt)}`,
    `${String(idempotencyKeys)} idempotency keys`,
    `${String(apiKeys)} API keys`,
    `${String(erasedHolders)} holders erased`,
    `${String(coverage.seals)} seals`,
    `${String(coverage.publishedBooks)} of ${String(heads.length)} books compared with a published copy`,
    ...(coverage.cosignatures === undefined ? [] : [`${String(coverage.cosignatures)} cosignatures of witnesses`]),
    `${String(compared)} of ${String(heads.length)} books compared with noted heads.`,
  ]
    .join(", ")
    .concat(` Not covered: ${notCovered()}.`);
}

/** Their number alone: on a screen their names would hide the verdict. */
function notCovered(): string {
  const columns = String(Object.keys(NOT_COVERED).length);
  return `${columns} columns, or parts of them, which kesc verify --json and docs/ledger.md name`;
}

function lineOf({ organizationId, seq, table, id, expected, found }: Finding): string {
  const where = [organizationId, `seq ${String(seq ?? "unknown")}`, table, id].filter((part) => part !== undefined);
  return printable(`${where.join(", ")}: expected ${expected}; found ${found}`);
}

/** A changed value may hold control characters, which a terminal would obey. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "\uFFFD");
}
