import type { Command } from "commander";

import { readVariables } from "../../../runtime/variables.js";
import { now } from "../../startup/clock.js";
import type { Config } from "../../startup/config.js";
import { reasonOf } from "../../startup/failure-facts.js";
import { invocation } from "../../startup/invocation.js";
import { openingError } from "../../startup/open-database.js";
import { diagnose } from "../../storage/diagnosis/diagnose.js";
import type { Diagnosed } from "../../storage/diagnosis/diagnosed.js";
import { printJson, printLine } from "../commands/output.js";
import { checkActs } from "./acts.js";
import { checkArchive, checkBackups } from "./backups.js";
import { checkCertificates } from "./certificates.js";
import { checkConfiguration } from "./configuration.js";
import { checkClock, checkDurability, checkRole, checkSchema, databaseName } from "./database.js";
import { checkMode } from "./files.js";
import { checkNamed, type CheckResult, type DoctorFinding } from "./finding.js";
import { checkJobs } from "./jobs.js";
import { checkMasterKeys, checkSeals } from "./keys.js";
import { checkDisk, checkNode, checkOpenFiles } from "./machine.js";
import { checkGrpcPort, checkHttpPort } from "./ports.js";
import { checkRails, hasMpesaAccount } from "./rails.js";
import { checkRestore } from "./restore.js";

const DATABASE = checkNamed("database");

interface DoctorOptions {
  readonly backups?: string;
  readonly metrics?: string;
  readonly json?: true;
}

/** `kesc doctor`: says what is wrong with this machine, its configuration and its database. */
export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .description("check configuration, certificates, keys, database, clock and disk; changes nothing")
    .option("--backups <folder>", "folder of the backups of kesc backup, to check the newest")
    .option("--metrics <folder>", "folder of the files that --metrics-file names, to check when each job ran last")
    .option("--json", "print JSON, for scripts")
    .action(async ({ backups, metrics, json }: DoctorOptions) => {
      const findings = await examine(backups, metrics);
      const failed = findings.filter(({ state }) => state === "fail").length;
      const warned = findings.filter(({ state }) => state === "warn").length;
      if (json === true) printJson({ ok: failed === 0, findings });
      else {
        const width = Math.max(...findings.map(({ check }) => check.length));
        for (const { state, check, meaning, remedy } of findings) {
          const words = remedy === undefined ? meaning : `${meaning} ${remedy}`;
          printLine(`${state.padEnd(4)}  ${check.padEnd(width)}  ${words}`);
        }
        const warnings = warned === 1 ? "1 warning" : `${String(warned)} warnings`;
        printLine(`\n${String(findings.length)} checks: ${String(failed)} failed, ${warnings}.`);
      }
      invocation().exitCode = failed === 0 ? 0 : 1;
    });
}

async function examine(backups: string | undefined, metrics: string | undefined): Promise<readonly DoctorFinding[]> {
  const { config, findings } = checkConfiguration(invocation().env);
  const machine = [checkNode(), checkOpenFiles()];
  if (config === undefined) return [...findings, ...machine];
  const at = now();
  // A database that cannot be read does not say that there is none.
  let hasMpesa = true;
  const database = await guarded("database", () =>
    checkDatabase(config, async (diagnosed) => {
      hasMpesa = await hasMpesaAccount(diagnosed);
    }),
  );
  const hasMasterKeys = !database.some(({ check, state }) => check === "master key" && state === "fail");
  return [
    ...findings,
    ...machine,
    ...(await guarded("tls", () => checkCertificates(config, at))),
    ...(await guarded("disk", () => checkDisk(config.database))),
    ...database,
    ...(await guarded("backup", () => checkBackups(config.database, { folder: backups, now: at, hasMasterKeys }))),
    ...(metrics === undefined
      ? []
      : await guarded("jobs", () => checkJobs(config.database, { folder: metrics, now: at, hasMpesa }))),
    ...(await guarded("grpc port", () => checkGrpcPort(config))),
    ...(await guarded("http port", () => checkHttp(config))),
  ];
}

async function checkDatabase(
  config: Config,
  whenItOpens: (diagnosed: Diagnosed) => Promise<void>,
): Promise<readonly DoctorFinding[]> {
  const { database: address } = config;
  const findings: DoctorFinding[] = [];
  try {
    await diagnose(address, async (diagnosed) => {
      findings.push(DATABASE.ok(`${databaseName(address)} can be read.`));
      const opened = await checkOpened(config, diagnosed);
      findings.push(...opened);
      if (opened.every(({ state }) => state !== "fail")) await whenItOpens(diagnosed);
    });
  } catch (error) {
    // Without its first finding the database could not be opened.
    if (findings.length > 0) throw error;
    findings.push(DATABASE.fail(openingError(address, error).message, "No server starts."));
  }
  if (address.engine === "sqlite") findings.push(...checkMode("database file", address.filename));
  return findings;
}

async function checkOpened(config: Config, diagnosed: Diagnosed): Promise<readonly DoctorFinding[]> {
  const schema = await checkSchema(diagnosed);
  const findings = [schema, checkDurability(diagnosed)];
  // The other checks read tables.
  if (schema.state === "fail") return findings;
  const at = now();
  const masterKeys = await checkMasterKeys(config.database.masterKeyFile, diagnosed);
  const canOpenBooks = masterKeys.every(({ state }) => state !== "fail");
  return [
    ...findings,
    ...(await guarded("clock", () => checkClock(diagnosed, at))),
    ...(await guarded("role", () => checkRole(diagnosed))),
    ...masterKeys,
    ...(await guarded("seal key", () => checkSeals(config, diagnosed))),
    ...(canOpenBooks ? await guarded("rails", () => checkRails(config, diagnosed, at)) : []),
    ...(await guarded("restore", () => checkRestore(diagnosed))),
    ...(await guarded("acts", () => checkActs(diagnosed, at))),
    ...(await guarded("backup", () => checkArchive(diagnosed, at))),
  ];
}

async function checkHttp({ tls }: Config): Promise<CheckResult> {
  const variables = readVariables(invocation().env);
  return variables.ok ? await checkHttpPort(variables.values.KESC_HTTP_ADDRESS, tls !== undefined) : [];
}

/** A check that itself fails is a finding, and the others go on. */
async function guarded(
  check: string,
  work: () => CheckResult | Promise<CheckResult>,
): Promise<readonly DoctorFinding[]> {
  try {
    return [await work()].flat();
  } catch (error) {
    const words = `This could not be checked: ${reasonOf(error)}.`;
    return [checkNamed(check).fail(words, "Correct that, and run the command again.")];
  }
}
