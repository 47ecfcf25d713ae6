import { execFileSync } from "node:child_process";
import { cpus, loadavg, release, totalmem, type } from "node:os";

/** Where and on what a run was made. */
export interface Machine {
  processor: string;
  cores: number;
  memoryGiB: number;
  system: string;
  node: string;
  /** Processes that wanted to run in the minute before; above zero, something else was at work. */
  loadBefore: number;
  /**
   * The commit that was checked out, with "+" when files differed from it; empty outside a git
   * checkout.
   */
  commit: string;
}

/** Describes this machine as it is now, and the checkout in `folder`. */
export function thisMachine(folder: string): Machine {
  return {
    processor: cpus()[0]?.model ?? "",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    loadBefore: Number(loadavg()[0]?.toFixed(2)),
    commit: commitOf(folder),
  };
}

/** The machine in one line. */
export function machineLine({ processor, cores, node, commit, loadBefore }: Machine): string {
  return `${processor}, ${String(cores)} cores, Node ${node}, commit ${commit}, load before ${String(loadBefore)}`;
}

function commitOf(folder: string): string {
  const git = (...args: string[]): string =>
    execFileSync("git", ["-C", folder, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    return git("rev-parse", "--short=12", "HEAD") + (git("status", "--porcelain") === "" ? "" : "+");
  } catch {
    return "";
  }
}
