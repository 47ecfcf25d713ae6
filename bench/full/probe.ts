import { WARM_UP_ROUNDS } from "../options.js";
import { progress, type Stage } from "./stage.js";

/** What one round of a measurement showed. */
export interface Sample {
  callsPerSecond: number;
  p50Millis: number;
  p99Millis: number;
  /** Processor time of the servers, for each call; null where they are not ours. */
  serverMicrosecondsPerCall: number | null;
  /** Share of a core that the load used; null where it was not measured. */
  loadBusy: number | null;
}

/** Something that can be measured for some seconds, again and again. */
export interface Probe {
  /** Unique in its part, and what the table shows. */
  name: string;
  /** The name of the probe that this one is compared with. */
  yardstick?: string;
  measure: (seconds: number) => Promise<Sample>;
}

/** A probe and what each round of it showed. */
export interface Series {
  name: string;
  yardstick: string | null;
  samples: Sample[];
}

/**
 * Measures all probes in turn, once to warm up and then once for each round, so that all see the
 * machine in the same mood.
 */
export async function inRounds(stage: Stage, what: string, probes: readonly Probe[]): Promise<Series[]> {
  const { rounds, seconds } = stage.options;
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

/** The samples of the probe with this name. */
export function samplesOf(series: readonly Series[], name: string): Sample[] {
  const found = series.find((one) => one.name === name);
  if (found === undefined) throw new Error(`nothing called "${name}" was measured`);
  return found.samples;
}

/**
 * A sample from latencies in milliseconds that were taken one after the other, or side by side,
 * within `seconds`.
 */
export function sampleOf(latencies: readonly number[], seconds: number): Sample {
  const sorted = latencies.toSorted((a, b) => a - b);
  const quantile = (share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
  return {
    callsPerSecond: latencies.length / seconds,
    p50Millis: quantile(0.5),
    p99Millis: quantile(0.99),
    serverMicrosecondsPerCall: null,
    loadBusy: null,
  };
}
