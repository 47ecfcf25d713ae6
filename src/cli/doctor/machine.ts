import { readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";

import type { DatabaseAddress } from "../../storage/database.js";
import { fail, type Finding, ok, warn } from "./finding.js";

const MIB = 1_048_576;
const FREE_BYTES_FAIL = 100 * MIB;
const FREE_BYTES_WARN = 1_024 * MIB;
// A server holds a file for each connection, and some for the database.
const OPEN_FILES_WARN = 4_096;

export function checkNode(running = process.versions.node): Finding {
  const text = readFileSync(new URL("../../../../package.json", import.meta.url), "utf8");
  const { engines } = JSON.parse(text) as { readonly engines: { readonly node: string } };
  if (engines.node.split("||").some((range) => isWithin(running, range.trim()))) {
    return ok("node", `Node ${running} is a version that KESC is made for.`);
  }
  return fail("node", `Node ${running} is none of ${engines.node}, for which KESC is made.`, "Install one of these.");
}

/** Knows the two forms in package.json: ^20.20.2 and >=26.5.1. */
function isWithin(version: string, range: string): boolean {
  const [, operator, lowest = ""] = /^(\^|>=)(\d+\.\d+\.\d+)$/.exec(range) ?? [];
  const [found, least] = [version, lowest].map((text) => text.split(".").map(Number));
  if (operator === undefined || found === undefined || least === undefined) return false;
  if (operator === "^" && found[0] !== least[0]) return false;
  const differing = least.findIndex((part, index) => part !== found[index]);
  return differing === -1 || (found[differing] ?? 0) > (least[differing] ?? 0);
}

interface Report {
  readonly userLimits?: { readonly open_files?: { readonly soft: number | "unlimited" } };
}

export function checkOpenFiles(): Finding {
  const report = process.report.getReport() as Report;
  const limit = report.userLimits?.open_files?.soft ?? "unlimited";
  if (limit === "unlimited" || limit >= OPEN_FILES_WARN) {
    return ok("open files", `A process may have ${String(limit)} open files, and so nearly as many connections.`);
  }
  return warn(
    "open files",
    `A process may have ${String(limit)} open files. Beyond that number of connections it refuses new ones.`,
    "Raise the limit (ulimit -n, or LimitNOFILE of systemd) to 65536, or lower KESC_HTTP_CONNECTIONS_MAX.",
  );
}

/** Checks the disk with the SQLite file. That of PostgreSQL cannot be seen from here. */
export async function checkDisk(address: DatabaseAddress): Promise<Finding> {
  if (address.engine === "postgres") {
    return ok("disk", "The disk of PostgreSQL cannot be seen from here. Watch it on its machine.");
  }
  const folder = dirname(address.filename);
  const { bavail, bsize } = await statfs(folder);
  return judgeDisk(folder, bavail * bsize);
}

export function judgeDisk(folder: string, freeBytes: number): Finding {
  const words = `${folder}, where the database lies, has ${String(Math.floor(freeBytes / MIB))} MiB left.`;
  const remedy =
    "Make room or enlarge the disk. A million transactions take about 1 GiB; a backup takes as much again.";
  if (freeBytes < FREE_BYTES_FAIL) return fail("disk", `${words} A full disk stops all writes.`, remedy);
  return freeBytes < FREE_BYTES_WARN ? warn("disk", words, remedy) : ok("disk", words);
}
