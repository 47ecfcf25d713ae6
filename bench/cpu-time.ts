import { readFileSync } from "node:fs";

/** CPU time in microseconds since the start of a process. */
export interface CpuTime {
  /** Of the thread that runs its event loop. */
  mainThread: number;
  /** Of all other threads: the database's, the garbage collector's. */
  otherThreads: number;
}

const NONE: CpuTime = { mainThread: 0, otherThreads: 0 };
// USER_HZ, which is 100 on every Linux that Node runs on: proc_pid_stat(5).
const MICROSECONDS_PER_TICK = 10_000;
// utime and stime, counted from the field that follows the program's name in brackets.
const UTIME = 11;
const STIME = 12;

/** Reads it from /proc; zero where there is none. */
export function cpuTimeOf(pid: number | undefined): CpuTime {
  if (process.platform !== "linux" || pid === undefined) return NONE;
  const folder = `/proc/${String(pid)}`;
  const mainThread = microsecondsIn(`${folder}/task/${String(pid)}/stat`);
  return { mainThread, otherThreads: microsecondsIn(`${folder}/stat`) - mainThread };
}

function microsecondsIn(file: string): number {
  const text = readFileSync(file, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[UTIME]) + Number(fields[STIME])) * MICROSECONDS_PER_TICK;
}
