import { median, medianRatio, quantile } from "./figures.js";

/** One round of a measurement. A figure is null where it was not measured. */
export interface Sample {
  callsPerSecond: number;
  p50Millis: number | null;
  p99Millis: number | null;
  /** Share of a core that the load used. */
  loadBusy: number | null;
  /** Processor time of the measured programs a call: the threads with an event loop, the others. */
  mainMicros: number | null;
  otherMicros: number | null;
}

/** What a measurement must leave of its yardstick. */
export interface Bound {
  /** The least share of the rate. */
  rateMin: number;
  /** The most times the p99. */
  p99Max: number;
}

/** A measurement and its rounds. */
export interface Series {
  /** Unique in its part; the tables show it. */
  name: string;
  /** The name of the series that this one is compared with. */
  yardstick: string | null;
  /** The table flags a series beyond it. */
  bound?: Bound;
  samples: Sample[];
}

export type FigureName = keyof Sample;

/** The samples of the series with this name. */
export function samplesOf(series: readonly Series[], name: string): Sample[] {
  const found = series.find((one) => one.name === name);
  if (found === undefined) throw new Error(`nothing called "${name}" was measured`);
  return found.samples;
}

/** A sample from the latencies of calls that took `seconds` in all. */
export function sampleOf(latencies: readonly number[], seconds: number): Sample {
  return {
    callsPerSecond: latencies.length / seconds,
    p50Millis: quantile(latencies, 0.5),
    p99Millis: quantile(latencies, 0.99),
    loadBusy: null,
    mainMicros: null,
    otherMicros: null,
  };
}

/** The median over the rounds; null where it was not measured. */
export function medianOf(samples: readonly Sample[], figure: FigureName): number | null {
  const values = samples.map((sample) => sample[figure]).filter((value) => value !== null);
  return values.length < samples.length || values.length === 0 ? null : median(values);
}

/** The median over the rounds of one figure of `above` divided by the same of `below`. */
export function ratioOf(above: readonly Sample[], below: readonly Sample[], figure: FigureName): number {
  const valuesOf = (samples: readonly Sample[]): number[] => samples.map((sample) => sample[figure] ?? NaN);
  return medianRatio(valuesOf(above), valuesOf(below));
}
