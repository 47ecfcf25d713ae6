/**
 * The hostile caller, a process of its own: runs one attack from the job's arrival until it is
 * stopped. Reports what its calls were answered when the benchmark asks.
 */
import type { Job } from "../load/job.js";
import { Tally } from "../load/tally.js";
import type { HostileJob } from "./attack.js";
import { type AttackName, attackNamed } from "./rows.js";

process.on("message", (job: HostileJob<AttackName> | "report") => {
  if (job === "report") report();
  else begin(job);
});
process.on("disconnect", () => process.exit(0));
process.send?.({ kind: "ready", address: "" });

let tally: Tally | undefined;

function begin(hostile: HostileJob<AttackName>): void {
  const job: Job = {
    transport: "grpc",
    call: "mint",
    addresses: [hostile.grpcAddress],
    connections: 0,
    inFlight: 0,
    apiKey: hostile.keys[0],
    accountIds: hostile.accountIds,
    amount: "1250.00",
    // No reference of another attack or run: each runs in a new process.
    firstSerial: Date.now() % 1e12,
    rampSeconds: 0,
    seconds: 0,
  };
  tally = new Tally(job);
  tally.openWindow();
  attackNamed(hostile.attack)({ hostile, job, tally });
}

function report(): void {
  tally?.closeWindow();
  process.send?.({ result: tally?.result() });
}
