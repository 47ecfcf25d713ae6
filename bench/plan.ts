import type { Options } from "./options.js";
import { emptyProbe, inRounds, loadProbe, type Probe } from "./probe.js";
import { type Figure, type Findings, ratioFigure } from "./report/report.js";
import { ratioOf, samplesOf, type Series } from "./report/series.js";
import type { Program } from "./servers/programs.js";
import type { Service } from "./servers/service.js";
import type { Stage } from "./stage.js";

const REST_IN_FLIGHT = [1, 4, 64, 256] as const;

const emptyAt = (inFlight: number): string => `empty grpc-js handler @ ${String(inFlight)}`;
const mintAt = (inFlight: number): string => `mint @ ${String(inFlight)}`;
const expressAt = (inFlight: number): string => `bare Express JSON echo @ ${String(inFlight)}`;
const restAt = (inFlight: number): string => `REST mint @ ${String(inFlight)}`;
const ONE_BY_ONE = "mint, one commit each @ 100";
const BATCHES = "mint, batches of 1,000 @ 4";
const GET_ACCOUNT = "GetAccount @ 100";

interface Servers {
  server: Service;
  oneByOne: Service;
  gateway: Program;
  express: Program;
}

/** The part `service`: durable mints and reads, over gRPC and REST, each beside its yardstick. */
export async function service(stage: Stage, options: Options): Promise<Findings> {
  const server = await stage.startService("server");
  const oneByOne = await stage.startService("one-by-one", { env: { KESC_BATCH_MAX: "1" } });
  const gateway = await stage.startGateway(server);
  const express = await stage.startOwn("express-echo", "echo/express-echo.js");
  const probes = wanted(plan(stage, { server, oneByOne, gateway, express }), options.only);
  const series = await inRounds(stage, options, { what: "service", probes });
  for (const one of [server, oneByOne]) await stage.checkBooks(one);
  return {
    settings: { rounds: options.rounds, seconds: options.seconds, database: "SQLite, synchronous=FULL" },
    series,
    figures: figuresOf(series),
  };
}

/** Each measurement comes right after its yardstick, so that both see the machine alike. */
function plan(stage: Stage, { server, oneByOne, gateway, express }: Servers): Probe[] {
  const grpc = [1, 4, 100, 400].flatMap((inFlight) => {
    const yardstick = emptyAt(inFlight);
    const mint = { call: "mint", inFlight, yardstick } as const;
    return [
      emptyProbe(stage, server, { name: yardstick, inFlight }),
      loadProbe(stage, server, { ...mint, name: mintAt(inFlight) }),
      ...(inFlight === 100
        ? [
            loadProbe(stage, oneByOne, { ...mint, name: ONE_BY_ONE }),
            loadProbe(stage, server, { ...mint, name: GET_ACCOUNT, call: "getAccount" }),
          ]
        : []),
    ];
  });
  // Each mint of a batch counts as a call.
  const batches = { transport: "grpcBatches", call: "mint", inFlight: 4, yardstick: mintAt(400) } as const;
  const rest = REST_IN_FLIGHT.flatMap((inFlight) => {
    const mint = { transport: "rest", call: "mint", inFlight } as const;
    const compared = { ...mint, programs: [gateway], yardstick: expressAt(inFlight) } as const;
    return [
      loadProbe(stage, server, { ...mint, name: expressAt(inFlight), programs: [express], booked: false }),
      loadProbe(stage, server, { ...compared, name: restAt(inFlight) }),
      loadProbe(stage, server, { ...compared, name: `REST mint with a key @ ${String(inFlight)}`, keyed: true }),
    ];
  });
  return [...grpc, loadProbe(stage, server, { ...batches, name: BATCHES }), ...rest];
}

/** The probes whose name contains `text`, and their yardsticks, in the order of the plan. */
function wanted(probes: Probe[], text: string): Probe[] {
  const named = probes.filter(({ name }) => name.includes(text));
  if (named.length === 0) throw new Error(`no measurement is called "${text}"`);
  return probes.filter((one) => named.includes(one) || named.some(({ yardstick }) => yardstick === one.name));
}

/** The ratios of which both sides were measured. */
function figuresOf(series: Series[]): Figure[] {
  const names = new Set(series.map(({ name }) => name));
  const ratio = (name: string, of: string, to: string): Figure[] =>
    names.has(of) && names.has(to)
      ? [ratioFigure(name, ratioOf(samplesOf(series, of), samplesOf(series, to), "callsPerSecond"))]
      : [];
  return [
    ...[100, 400].flatMap((n) => ratio(`mints ÷ empty calls, ${String(n)} in flight`, mintAt(n), emptyAt(n))),
    ...ratio("mints ÷ one commit for each mint, 100 in flight", mintAt(100), ONE_BY_ONE),
    ...ratio("mints in batches of 1,000 ÷ single mints, 400 in flight", BATCHES, mintAt(400)),
    ...ratio("GetAccount ÷ empty calls, 100 in flight", GET_ACCOUNT, emptyAt(100)),
    ...REST_IN_FLIGHT.flatMap((n) =>
      ratio(`REST mints ÷ bare Express echo, ${String(n)} in flight`, restAt(n), expressAt(n)),
    ),
  ];
}
