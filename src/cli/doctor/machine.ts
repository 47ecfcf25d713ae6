import { statfs } from "node:fs/promises";
import { dirname } from "node:path";

import { nodeProblem } from "../../startup/version.js";
import type { DatabaseAddress } from "../../storage/database.js";
import { checkNamed, type DoctorFinding } from "./finding.js";

const NODE = checkNamed("node");
const OPEN_FILES = checkNamed("open files");
const DISK = checkNamed("disk");

const MIB = 1_048_576;
const FREE_BYTES_FAIL = 100 * MIB;
const FREE_BYTES_WARN = 1_024 * MIB;
// A server holds a file for each connection, and some for the database.
const OPEN_FILES_WARN = 4_096;

export function checkNode(running = process.versions.node): DoctorFinding {
  const problem = nodeProblem(running);
  if (problem === undefined) return NODE.ok(`Node ${running} is a version that KESC is made for.`);
  return NODE.fail(problem, "Install one of these.");
}

interface MachineReport {
  readonly userLimits?: { readonly open_files?: { readonly soft: number | "unlimited" } };
}

export function checkOpenFiles(): DoctorFinding {
  const report = process.report.getReport() as MachineReport;
  const limit = report.userLimits?.open_files?.soft ?? "unlimited";
  if (limit === "unlimited" || limit >= OPEN_FILES_WARN) {
    return OPEN_FILES.ok(`A process may have ${String(limit)} open files, and so nearly as many connections.`);
  }
  return OPEN_FILES.warn(
    `A process may have ${String(limit)} open files. Beyond that number of connections it refuses new ones.`,
    "Raise the limit (ulimit -n, or LimitNOFILE of systemd) to 65536, or lower KESC_HTTP_CONNECTIONS_MAX.",
  );
}

/** Checks the disk with the SQLite file. That of PostgreSQL cannot be seen from here. */
export async function checkDisk(address: DatabaseAddress): Promise<DoctorFinding> {
  if (address.engine === "postgres") {
    return DISK.ok("The disk of PostgreSQL cannot be seen from here. Watch it on its machine.");
  }
  const folder = dirname(address.filename);
  const { bavail, bsize } = await statfs(folder);
  return judgeDisk(folder, bavail * bsize);
}

export function judgeDisk(folder: string, freeBytes: number): DoctorFinding {
  const words = `${folder}, where the database lies, has ${String(Math.floor(freeBytes / MIB))} MiB left.`;
  const remedy =
    "Make room or enlarge the disk. A million transactions take about 1 GiB; a backup takes as much again.";
  if (freeBytes < FREE_BYTES_FAIL) return DISK.fail(`${words} A full disk stops all writes.`, remedy);
  return freeBytes < FREE_BYTES_WARN ? DISK.warn(words, remedy) : DISK.ok(words);
}
