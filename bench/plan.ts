import type { CallName, Job } from "./load/job.js";

/** Who answers the calls of a measurement. */
export type Target = "grpcEcho" | "expressEcho" | "server" | "serverOneByOne" | "gateway";

export interface Measurement {
  /** Unique, and what the table shows. */
  name: string;
  target: Target;
  transport: Job["transport"];
  call: CallName;
  inFlight: number;
  connections: number;
  /** Whether each mint carries an idempotency key of its own. */
  keyed?: boolean | undefined;
  /**
   * The name of the measurement that this one is compared with; absent for the yardsticks
   * themselves.
   */
  yardstick?: string;
}

/** A sentence of two figures: the rate of `of` divided by the rate of `to`. */
export interface Comparison {
  name: string;
  of: string;
  to: string;
}

const CALLS_ON_A_CONNECTION = 100;
const REST_IN_FLIGHT = [64, 256] as const;
const SINGLE_MINTS = "mint @ 400";

/**
 * Each measurement comes right after its yardstick, so that both see the machine in the same mood.
 */
const PLAN: readonly Measurement[] = [
  ...[1, 16, 100, 400].flatMap((inFlight) => [
    empty(inFlight),
    grpc("mint", "server", "mint", inFlight),
    ...(inFlight === 100
      ? [
          grpc("mint, one commit each", "serverOneByOne", "mint", inFlight),
          grpc("GetAccount", "server", "getAccount", inFlight),
        ]
      : []),
    ...(inFlight === 400 ? [batches(1), batches(4)] : []),
  ]),
  ...REST_IN_FLIGHT.flatMap((inFlight) => [expressEcho(inFlight), restMint(inFlight), keyedRestMint(inFlight)]),
];

export const COMPARISONS: readonly Comparison[] = [
  { name: "durable mints / empty handler, 100 in flight", of: "mint @ 100", to: "empty grpc-js handler @ 100" },
  { name: "durable mints / one commit each, 100 in flight", of: "mint @ 100", to: "mint, one commit each @ 100" },
  { name: "mints in batches of 1,000, 4 calls / single mints, 400 in flight", of: batches(4).name, to: SINGLE_MINTS },
  ...REST_IN_FLIGHT.map((inFlight) => ({
    name: `REST mints / bare Express echo, ${String(inFlight)} in flight`,
    of: restMint(inFlight).name,
    to: expressEcho(inFlight).name,
  })),
];

/** The measurements whose name contains `text`, and their yardsticks, in the order of the plan. */
export function planFor(text: string): Measurement[] {
  const wanted = PLAN.filter(({ name }) => name.includes(text));
  return PLAN.filter((one) => wanted.includes(one) || wanted.some(({ yardstick }) => yardstick === one.name));
}

function empty(inFlight: number): Measurement {
  return overGrpc("empty grpc-js handler", "grpcEcho", "empty", inFlight);
}

/** A measurement of the service, compared with the empty handler at the same number in flight. */
function grpc(what: string, target: Target, call: CallName, inFlight: number): Measurement {
  return { ...overGrpc(what, target, call, inFlight), yardstick: empty(inFlight).name };
}

function overGrpc(what: string, target: Target, call: CallName, inFlight: number): Measurement {
  return {
    name: `${what} @ ${String(inFlight)}`,
    target,
    transport: "grpc",
    call,
    inFlight,
    connections: Math.ceil(inFlight / CALLS_ON_A_CONNECTION),
  };
}

/** Mints in batches of 1,000, compared with mints by themselves. What is counted is mints. */
function batches(inFlight: number): Measurement {
  return {
    name: `mint, batches of 1,000 @ ${String(inFlight)}`,
    target: "server",
    transport: "grpcBatches",
    call: "mint",
    inFlight,
    connections: 1,
    yardstick: SINGLE_MINTS,
  };
}

function expressEcho(inFlight: number): Measurement {
  return overRest("bare Express JSON echo", "expressEcho", inFlight);
}

function restMint(inFlight: number): Measurement {
  return { ...overRest("REST mint", "gateway", inFlight), yardstick: expressEcho(inFlight).name };
}

function keyedRestMint(inFlight: number): Measurement {
  const yardstick = expressEcho(inFlight).name;
  return { ...overRest("REST mint with a key", "gateway", inFlight), keyed: true, yardstick };
}

function overRest(what: string, target: Target, inFlight: number): Measurement {
  return {
    name: `${what} @ ${String(inFlight)}`,
    target,
    transport: "rest",
    call: "mint",
    inFlight,
    connections: inFlight,
  };
}
