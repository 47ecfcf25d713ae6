/** The load process: runs one job after the other as they arrive over the IPC channel. */
import { setTimeout as sleep } from "node:timers/promises";

import { driveBatches } from "./batch-load.js";
import { driveBlnk } from "./blnk-load.js";
import { driveGrpc } from "./grpc-load.js";
import type { Job, LoadResult, Reply } from "./job.js";
import { driveRest } from "./rest-load.js";
import { Tally } from "./tally.js";

/** The last calls may take this long after the window is closed. */
const LAST_ANSWER_SECONDS_MAX = 15;

const DRIVERS = { grpc: driveGrpc, grpcBatches: driveBatches, rest: driveRest, blnk: driveBlnk } satisfies Record<
  Job["transport"],
  unknown
>;

process.on("message", (job: Job) => {
  void run(job)
    .then(
      (result): Reply => ({ result }),
      (error: unknown): Reply => ({ failure: String(error) }),
    )
    .then((reply) => process.send?.(reply));
});
process.on("disconnect", () => process.exit(0));
process.send?.({ kind: "ready", address: "" });

async function run(job: Job): Promise<LoadResult> {
  const tally = new Tally(job);
  const driven = DRIVERS[job.transport](job, tally);
  await Promise.race([sleep(job.rampSeconds * 1000), driven]);
  tally.openWindow();
  await Promise.race([sleep(job.seconds * 1000), driven]);
  tally.closeWindow();
  const late = sleep(LAST_ANSWER_SECONDS_MAX * 1000, "late", { ref: false });
  if ((await Promise.race([driven, late])) === "late") {
    tally.blame(`not all answers came within ${String(LAST_ANSWER_SECONDS_MAX)} s`, 1);
  }
  return tally.result();
}
