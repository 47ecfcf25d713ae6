import type { TraceParent } from "../caller-ids.js";
import type { Environment } from "../variables.js";

/** Decides whether a call is recorded, from the place of its caller in a trace, if it has one. */
export type Sampler = (parent: TraceParent | undefined) => boolean;

/** The spans that one process records in a second. Callers choose what they mark as sampled. */
export const SPANS_PER_SECOND_MAX = 200;
const SECOND_MILLIS = 1_000;

export type SampleResult =
  { readonly ok: true; readonly sample: Sampler } | { readonly ok: false; readonly problem: string };

/**
 * Reads OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG, as OpenTelemetry specifies them. A sampler
 * of the SDK would make a trace id for each call first: here a call that is not recorded costs one
 * random number.
 */
export function samplerOf(environment: Environment, random: () => number = Math.random): SampleResult {
  const name = environment["OTEL_TRACES_SAMPLER"] ?? "";
  const [, parentBased = "", kind = ""] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(
    name === "" ? "parentbased_always_on" : name,
  ) ?? ["", "", ""];
  if (kind === "") {
    const allowed = "always_on, always_off, traceidratio, or one of them after parentbased_";
    return { ok: false, problem: `OTEL_TRACES_SAMPLER must be ${allowed}; it is "${name}".` };
  }
  const text = environment["OTEL_TRACES_SAMPLER_ARG"] ?? "";
  const ratio = { always_on: 1, always_off: 0 }[kind] ?? (text === "" ? 1 : Number(text));
  if (!(ratio >= 0 && ratio <= 1)) {
    return { ok: false, problem: `OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1; it is "${text}".` };
  }
  const isChosen = (): boolean => random() < ratio;
  const sample: Sampler =
    parentBased === "" ? isChosen : (parent) => (parent === undefined ? isChosen() : parent.isSampled);
  return { ok: true, sample };
}

/** Returns the sampler with a bound on what it lets through in a second. */
export function atMost(perSecond: number, sample: Sampler, monotonicMillis: () => number): Sampler {
  let from = -Infinity;
  let taken = 0;
  return (parent) => {
    if (!sample(parent)) return false;
    const now = monotonicMillis();
    if (now - from >= SECOND_MILLIS) [from, taken] = [now, 0];
    taken += 1;
    return taken <= perSecond;
  };
}
