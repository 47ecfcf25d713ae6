import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { OperatorError } from "../startup/operator-error.js";

/** The commands that a timer runs every day. */
export const JOBS = ["backup", "verify", "seal publish", "purge", "reconcile"] as const;
export type Job = (typeof JOBS)[number];

/** The option of each of them. */
export const METRICS_FILE = [
  "--metrics-file <file>",
  "note in this file when the command ended, for Prometheus' node_exporter",
] as const;

interface Measured {
  readonly name: string;
  readonly help: string;
  /** In braces, or empty. */
  readonly labels: string;
  readonly value: number;
}

const LAST_RUN = "kesc_job_last_run_timestamp_seconds";
const VERIFY_FINDINGS = {
  name: "kesc_last_verify_findings",
  help: "Errors that the last audit found in the books.",
  labels: "",
};

/** Returns what a command says to Prometheus when it has done its work. */
export function jobMetrics(job: Job, nowMillis: number): readonly Measured[] {
  const help = "When the command last did its work to the end, also an audit that found errors.";
  return [{ name: LAST_RUN, help, labels: `{command="${job}"}`, value: Math.floor(nowMillis / 1_000) }];
}

/** Returns what `kesc verify` says to Prometheus. */
export function verifyMetrics(nowMillis: number, findings: number): readonly Measured[] {
  return [...jobMetrics("verify", nowMillis), { ...VERIFY_FINDINGS, value: findings }];
}

/**
 * Returns when each job ended last, in milliseconds, as the files of a folder say. Throws if it
 * cannot be read.
 */
export function lastRunsIn(folder: string): ReadonlyMap<string, number> {
  const runs = new Map<string, number>();
  for (const name of readdirSync(folder).filter((name) => name.endsWith(".prom"))) {
    const text = readFileSync(join(folder, name), "utf8");
    for (const [, job = "", seconds] of text.matchAll(
      /^kesc_job_last_run_timestamp_seconds\{command="(.+)"\} (\d+)$/gm,
    )) {
      runs.set(job, Math.max(runs.get(job) ?? 0, Number(seconds) * 1_000));
    }
  }
  return runs;
}

/**
 * Writes a file for the textfile collector of Prometheus' node_exporter. A reader sees the old file
 * or the new one, and no half of it. Throws an OperatorError.
 */
export function writeMetricsFile(filename: string, metrics: readonly Measured[]): void {
  const part = `${filename}.part`;
  const text = metrics.map(
    ({ name, help, labels, value }) =>
      `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name}${labels} ${String(value)}\n`,
  );
  try {
    writeFileSync(part, text.join(""));
    renameSync(part, filename);
  } catch (error) {
    rmSync(part, { force: true });
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`The metrics file ${filename} cannot be written: ${reason}`, { cause: error });
  }
}
