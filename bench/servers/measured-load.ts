import type { Job, LoadResult, Reply } from "../load/job.js";
import { cpuTimeOf } from "./process-stats.js";
import type { Program } from "./programs.js";
import { AMOUNT, type Service } from "./service.js";

/** A job without the fields that the service fills in. */
export type Calls = Omit<Job, "addresses" | "apiKey" | "accountIds" | "amount" | "firstSerial" | "kesc"> & {
  /** Absent: all accounts of the service. For mints that are booked, its first ones. */
  accountIds?: string[];
};

export interface LoadTarget {
  loader: Program;
  /** Its key, accounts and serial numbers are used. */
  service: Service;
  /** The programs that answer. */
  programs: readonly [Program, ...Program[]];
  /** Whether the mints are the service's, so that its books must show them. */
  booked: boolean;
}

/** The result of a job, and the processor time a call of the programs that answered. */
export interface Measured extends LoadResult {
  mainMicros: number;
  otherMicros: number;
}

/** Runs a job in the load process, and books its mints in the service. */
export async function measuredLoad({ loader, service, programs, booked }: LoadTarget, calls: Calls): Promise<Measured> {
  const { apiKey, accountIds, kesc, nextSerial: firstSerial } = service;
  const [first, ...others] = programs;
  const addresses: Job["addresses"] = [first.address, ...others.map(({ address }) => address)];
  const before = cpuTimesOf(programs);
  const result = await load(loader, { apiKey, accountIds, kesc, amount: AMOUNT, firstSerial, addresses, ...calls });
  const after = cpuTimesOf(programs);
  service.nextSerial += result.started;
  if (booked) service.acknowledged = service.acknowledged.map((count, i) => count + (result.acknowledged[i] ?? 0));
  return {
    ...result,
    mainMicros: (after.main - before.main) / result.started,
    otherMicros: (after.other - before.other) / result.started,
  };
}

function cpuTimesOf(programs: readonly Program[]): { main: number; other: number } {
  const times = programs.map(({ process: server }) => cpuTimeOf(server.pid));
  return {
    main: times.reduce((sum, { main }) => sum + main, 0),
    other: times.reduce((sum, { other }) => sum + other, 0),
  };
}

/** Rejects when the job could not run at all, or when the load process has ended. */
function load({ process: child }: Program, job: Job): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => {
      reject(new Error("the load process has ended"));
    };
    child.once("exit", onExit);
    child.once("message", (reply: Reply) => {
      child.off("exit", onExit);
      if ("result" in reply) resolve(reply.result);
      else reject(new Error(reply.failure));
    });
    child.send(job);
  });
}
