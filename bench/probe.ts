import type { Rounds } from "./options.js";
import type { Sample, Series } from "./report/series.js";
import { type Calls, measuredLoad } from "./servers/measured-load.js";
import type { Program } from "./servers/programs.js";
import type { Service } from "./servers/service.js";
import { progress, type Stage } from "./stage.js";

const CALLS_ON_A_CONNECTION = 100;
const RAMP_SECONDS = 0.2;
/**
 * The warm-up takes this many rounds. A server is slower, by a fifth and more, until V8 has
 * compiled its hot code, which takes some hundred thousand calls.
 */
const WARM_UP_ROUNDS = 6;

/** A measurement that can be repeated. */
export interface Probe {
  /** Unique in its part; the tables show it. */
  name: string;
  /** The name of the probe that this one is compared with. */
  yardstick?: string;
  measure: (seconds: number) => Promise<Sample>;
}

/**
 * Measures all probes in turn, once to warm up and then once in each round, so that all see the
 * machine in the same mood.
 */
export async function inRounds(
  stage: Stage,
  { rounds, seconds }: Rounds,
  { what, probes }: { what: string; probes: readonly Probe[] },
): Promise<Series[]> {
  const series = probes.map(({ name, yardstick = null }): Series => ({ name, yardstick, samples: [] }));
  for (let round = 0; round <= rounds; round++) {
    progress(`${what}: ${round === 0 ? "warming up" : `round ${String(round)} of ${String(rounds)}`}`);
    for (const [i, { name, measure }] of probes.entries()) {
      const sample = await measure(round === 0 ? seconds * WARM_UP_ROUNDS : seconds);
      if (round === 0) continue;
      if (sample.callsPerSecond === 0) stage.blame(`${name}: no answer in a whole round`);
      series[i]?.samples.push(sample);
    }
  }
  return series;
}

export interface LoadProbe extends Omit<Calls, "transport" | "connections" | "rampSeconds" | "seconds"> {
  name: string;
  yardstick?: string;
  /** Absent: gRPC, one connection for each 100 calls in flight. */
  transport?: Calls["transport"];
  /** The programs that answer; absent: the service's first server. */
  programs?: readonly [Program, ...Program[]];
  /** Absent: whether the calls are mints. */
  booked?: boolean;
}

/** Calls by the load process. Right answers to mints are booked in `service`. */
export function loadProbe(stage: Stage, service: Service, probe: LoadProbe): Probe {
  const { name, yardstick, programs, transport = "grpc", booked = probe.call === "mint", ...calls } = probe;
  return {
    name,
    ...(yardstick === undefined ? {} : { yardstick }),
    measure: async (seconds) => {
      // Looked up now: the server may have been started again since.
      const answering = programs ?? [service.program];
      const needed =
        transport === "rest" || transport === "blnk"
          ? calls.inFlight
          : Math.ceil(calls.inFlight / CALLS_ON_A_CONNECTION);
      const connections = Math.max(answering.length, needed);
      const { problems, ...sample } = await measuredLoad(
        { loader: stage.loader, service, programs: answering, booked },
        { ...calls, transport, connections, rampSeconds: RAMP_SECONDS, seconds },
      );
      stage.blameAll(name, problems);
      return sample;
    },
  };
}

/** A probe of the empty handler, with a mint's request. `service` only lends its accounts. */
export function emptyProbe(stage: Stage, service: Service, probe: Omit<LoadProbe, "call" | "programs">): Probe {
  return loadProbe(stage, service, { ...probe, call: "empty", programs: [stage.echo] });
}
