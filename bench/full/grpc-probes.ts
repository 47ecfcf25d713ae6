import type { CallName } from "../load/job.js";
import { type Calls, measuredLoad } from "../measured-load.js";
import type { Program } from "../servers.js";
import type { Service } from "../service.js";
import type { Probe, Sample } from "./probe.js";
import type { Stage } from "./stage.js";

const CALLS_ON_A_CONNECTION = 100;
const RAMP_SECONDS = 0.2;

/** Beyond the name and number of the calls. */
interface GrpcProbeOptions
  extends Pick<Probe, "yardstick">, Pick<Calls, "accountIds" | "apiKeys" | "transactionIds" | "ratePerSecond"> {
  /** Who answers; absent: the service's first server. */
  programs?: readonly [Program, ...Program[]];
}

/** The empty handler, with a mint's request. `service` only lends its accounts. */
export function emptyCalls(
  stage: Stage,
  service: Service,
  { name, inFlight, ...options }: { name: string; inFlight: number } & GrpcProbeOptions,
): Probe {
  return grpcProbe(stage, service, { name, call: "empty", inFlight, programs: [stage.echo], ...options });
}

/** Calls of the service. Right answers to mints are booked in `service`. */
export function grpcProbe(
  stage: Stage,
  service: Service,
  {
    name,
    call,
    inFlight,
    yardstick,
    programs,
    ...calls
  }: { name: string; call: CallName; inFlight: number } & GrpcProbeOptions,
): Probe {
  return {
    name,
    ...(yardstick === undefined ? {} : { yardstick }),
    measure: async (seconds) => {
      // Looked up now: the server may have been started again since.
      const answering = programs ?? [service.program];
      const round = await measuredLoad(
        { loader: stage.loader, service, programs: answering, booked: call === "mint" },
        {
          ...calls,
          transport: "grpc",
          call,
          inFlight,
          connections: Math.max(answering.length, Math.ceil(inFlight / CALLS_ON_A_CONNECTION)),
          rampSeconds: RAMP_SECONDS,
          seconds,
        },
      );
      for (const [problem, times] of Object.entries(round.problems)) stage.blame(`${name}: ${problem}`, times);
      const { callsPerSecond, p50Millis, p99Millis, loadBusy } = round;
      const serverMicrosecondsPerCall = round.mainThreadMicrosecondsPerCall + round.otherThreadsMicrosecondsPerCall;
      return { callsPerSecond, p50Millis, p99Millis, serverMicrosecondsPerCall, loadBusy } satisfies Sample;
    },
  };
}
