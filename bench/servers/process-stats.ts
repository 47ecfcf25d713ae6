import { readdirSync, readFileSync } from "node:fs";

/** Processor time in microseconds since the start of a process, user and system. */
export interface CpuTime {
  /** Of the thread that runs its event loop. */
  main: number;
  /** Of all other threads: the database's, the garbage collector's. */
  other: number;
}

// USER_HZ, which is 100 on every Linux that Node runs on: proc_pid_stat(5).
const MICROSECONDS_PER_TICK = 10_000;
// Counted from the field that follows the program's name in brackets.
const PPID = 1;
const UTIME = 11;
const STIME = 12;
const CUTIME = 13;
const CSTIME = 14;

/** Reads the times of a process from /proc; zero where there is none. */
export function cpuTimeOf(pid: number | undefined): CpuTime {
  if (process.platform !== "linux" || pid === undefined) return { main: 0, other: 0 };
  const main = ticks(statOf(`${String(pid)}/task/${String(pid)}`), [UTIME, STIME]);
  return { main, other: ticks(statOf(String(pid)), [UTIME, STIME]) - main };
}

/** The processor time of a process and of all its descendants, those that have ended included. */
export function cpuOfTree(pid: number | undefined): number {
  if (process.platform !== "linux" || pid === undefined) throw new Error("processor times need Linux's /proc");
  const stats = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), statOf(name)] as const),
  );
  const total = (of: number): number => {
    const children = [...stats].filter(([, fields]) => Number(fields[PPID]) === of);
    const own = ticks(stats.get(of) ?? [], [UTIME, STIME, CUTIME, CSTIME]);
    return children.reduce((sum, [child]) => sum + total(child), own);
  };
  return total(pid);
}

/** The memory of a process that is in RAM, in MiB; NaN where there is no /proc or no process. */
export function residentMebibytes(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${String(pid)}/status`, "utf8");
    return Number(/^VmRSS:\s+([0-9]+) kB$/m.exec(status)?.[1]) / 1024;
  } catch {
    return NaN;
  }
}

/** The fields after the program's name; none when the process has ended meanwhile. */
function statOf(process: string): string[] {
  try {
    const text = readFileSync(`/proc/${process}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

function ticks(fields: string[], wanted: number[]): number {
  return wanted.reduce((sum, field) => sum + Number(fields[field] ?? 0), 0) * MICROSECONDS_PER_TICK;
}
