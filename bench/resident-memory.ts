import { readFileSync } from "node:fs";

/**
 * The memory of a process that is in RAM, in MiB; NaN where there is no /proc, and when the process
 * is gone.
 */
export function residentMebibytes(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${String(pid)}/status`, "utf8");
    return Number(/^VmRSS:\s+([0-9]+) kB$/m.exec(status)?.[1]) / 1024;
  } catch {
    return NaN;
  }
}
