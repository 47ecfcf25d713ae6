import { cpuTimeOf } from "./cpu-time.js";
import type { Job } from "./load/job.js";
import { load } from "./load-process.js";
import type { Round } from "./report.js";
import type { Program } from "./servers.js";
import { AMOUNT, type Service } from "./service.js";

/** A job for the load process, without what the service knows best. */
export type Calls = Omit<Job, "addresses" | "apiKey" | "accountIds" | "amount" | "firstSerial"> & {
  /** Absent: all accounts of the service. For mints that are booked, its first ones. */
  accountIds?: string[];
};

export interface LoadTarget {
  loader: Program;
  /** Whose key, accounts and serial numbers the calls use. */
  service: Service;
  /** Who answers. */
  programs: readonly [Program, ...Program[]];
  /** Whether the service mints what is acknowledged, so that its books must show it. */
  booked: boolean;
}

/**
 * Has the load process do a job; books what it did to the service, and what it cost the programs
 * that answered.
 */
export async function measuredLoad({ loader, service, programs, booked }: LoadTarget, calls: Calls): Promise<Round> {
  const { apiKey, accountIds, nextSerial: firstSerial } = service;
  const [first, ...others] = programs;
  const addresses: Job["addresses"] = [first.address, ...others.map(({ address }) => address)];
  const before = cpuTimesOf(programs);
  const result = await load(loader, { apiKey, accountIds, amount: AMOUNT, firstSerial, addresses, ...calls });
  const after = cpuTimesOf(programs);
  service.nextSerial += result.started;
  if (booked) service.acknowledged = service.acknowledged.map((count, i) => count + (result.acknowledged[i] ?? 0));
  return {
    ...result,
    mainThreadMicrosecondsPerCall: (after.mainThread - before.mainThread) / result.started,
    otherThreadsMicrosecondsPerCall: (after.otherThreads - before.otherThreads) / result.started,
  };
}

function cpuTimesOf(programs: readonly Program[]): { mainThread: number; otherThreads: number } {
  const times = programs.map(({ process: server }) => cpuTimeOf(server.pid));
  return {
    mainThread: times.reduce((sum, { mainThread }) => sum + mainThread, 0),
    otherThreads: times.reduce((sum, { otherThreads }) => sum + otherThreads, 0),
  };
}
