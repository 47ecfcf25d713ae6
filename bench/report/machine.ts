import { execFileSync } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { dirname } from "node:path";

/** The machine and the build of a run. */
export interface Machine {
  processor: string;
  cores: number;
  node: string;
  /** The load average at the start. Much above zero, other programs were at work. */
  loadBefore: number;
  /** Short hash of the measured build's commit, with "-dirty" when files differ from it. */
  commit: string;
}

/** Describes this machine as it is now, and the build that has this `kesc` command. */
export function thisMachine(kesc: string): Machine {
  return {
    processor: cpus()[0]?.model ?? "",
    cores: cpus().length,
    node: process.version,
    loadBefore: Number(loadavg()[0]?.toFixed(2)),
    commit: commitOf(dirname(kesc)),
  };
}

export function machineLine({ processor, cores, node, commit, loadBefore }: Machine): string {
  return `commit ${commit}, ${processor}, ${String(cores)} cores, Node ${node}, load before ${String(loadBefore)}`;
}

function commitOf(folder: string): string {
  const git = (...args: string[]): string =>
    execFileSync("git", ["-C", folder, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    return git("rev-parse", "--short=7", "HEAD") + (git("status", "--porcelain") === "" ? "" : "-dirty");
  } catch {
    return "unknown";
  }
}
