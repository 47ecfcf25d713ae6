import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/**
 * What a run of a stage and one of its files may cost, in calibrations of processor time. A test
 * that is too dear gets cheaper, or moves to `make check`.
 */
export const BUDGETS = { test: { run: 420, file: 15 }, check: { run: 1_900, file: 90 } } as const;

const SLICES = 11;
const RECORDS = 20_000;
const SLICES_OF_A_CALIBRATION = 40;

/** The processor time of this process and, on Linux, of its children that have ended. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + cpuSecondsOfChildren();
}

/** Reads cutime and cstime, fields 16 and 17 of proc_pid_stat(5), in hundredths of a second. */
function cpuSecondsOfChildren(): number {
  if (process.platform !== "linux") return 0;
  // The second field, the name of the program in brackets, may contain spaces.
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/**
 * Returns the processor time of one calibration, in seconds: about one on a machine of 2026. It is
 * fixed work of the kind that tests do, so on a slower machine both are dearer alike.
 */
export function calibrate(): number {
  const slices = Array.from({ length: SLICES }, () => {
    const before = cpuSeconds();
    slice();
    return cpuSeconds() - before;
  });
  return Math.min(...slices) * SLICES_OF_A_CALIBRATION;
}

function slice(): void {
  const records = Array.from({ length: RECORDS }, (_, index) => ({
    id: createHash("sha256")
      .update(`record ${String(index)}`)
      .digest("hex"),
    amount: `${String(index)}.00`,
  }));
  const copied = JSON.parse(JSON.stringify(records)) as typeof records;
  copied.sort((one, other) => one.id.localeCompare(other.id));
  const byId = new Map(copied.map((record) => [record.id, record]));
  if (byId.size !== RECORDS) throw new Error("a calibration went wrong");
}

/** A sentence for the run, and for each of its files, that took more than the stage allows. */
export function tooDear(
  stage: keyof typeof BUDGETS,
  calibration: number,
  run: {
    readonly cpuSeconds: number;
    readonly files: readonly { readonly file: string; readonly cpuSeconds: number }[];
  },
): string[] {
  const check = (what: string, seconds: number, allowed: number): string[] => {
    const took = seconds / calibration;
    return took > allowed ? [`${what} took ${took.toFixed(0)} calibrations; allowed are ${String(allowed)}`] : [];
  };
  return [
    ...check("the run", run.cpuSeconds, BUDGETS[stage].run),
    ...run.files.flatMap(({ file, cpuSeconds: seconds }) => check(file, seconds, BUDGETS[stage].file)),
  ];
}
