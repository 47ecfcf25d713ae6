import { renameSync, rmSync, writeFileSync } from "node:fs";

import { OperatorError } from "../startup/operator-error.js";

interface Measured {
  readonly name: string;
  readonly help: string;
  readonly value: number;
}

const BACKUP_TIME = { name: "kesc_last_backup_timestamp_seconds", help: "When the last good backup ended." };
const VERIFY_TIME = { name: "kesc_last_verify_timestamp_seconds", help: "When the last audit ended." };
const VERIFY_FINDINGS = { name: "kesc_last_verify_findings", help: "Errors that the last audit found in the books." };

/** Returns what `kesc backup` says to Prometheus. */
export function backupMetrics(nowMillis: number): readonly Measured[] {
  return [{ ...BACKUP_TIME, value: Math.floor(nowMillis / 1_000) }];
}

/** Returns what `kesc verify` says to Prometheus. */
export function verifyMetrics(nowMillis: number, findings: number): readonly Measured[] {
  return [
    { ...VERIFY_TIME, value: Math.floor(nowMillis / 1_000) },
    { ...VERIFY_FINDINGS, value: findings },
  ];
}

/**
 * Writes a file for the textfile collector of Prometheus' node_exporter. A reader sees the old file
 * or the new one, and no half of it. Throws an OperatorError.
 */
export function writeMetricsFile(filename: string, metrics: readonly Measured[]): void {
  const part = `${filename}.part`;
  const text = metrics.map(
    ({ name, help, value }) => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${String(value)}\n`,
  );
  try {
    writeFileSync(part, text.join(""));
    renameSync(part, filename);
  } catch (error) {
    rmSync(part, { force: true });
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`The metrics file ${filename} cannot be written: ${reason}`, 1, { cause: error });
  }
}
