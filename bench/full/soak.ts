import type { Options } from "../options.js";
import { rounded } from "../report/figures.js";
import { type Figure, type Findings, ratioFigure } from "../report/report.js";
import type { Sample } from "../report/series.js";
import { measuredLoad } from "../servers/measured-load.js";
import { residentMebibytes } from "../servers/process-stats.js";
import { stop } from "../servers/programs.js";
import { progress, type Stage } from "../stage.js";

const TURN_SECONDS = 30;
const LOADS = [
  { name: "mint @ 100, gRPC", transport: "grpc", inFlight: 100, connections: 1 },
  { name: "mint @ 64, REST", transport: "rest", inFlight: 64, connections: 64 },
] as const;
/** The heaps find their size in the first of these equal spans. */
const SPANS = 4;

/** The part `soak`: full load over gRPC and over REST in turn, and whether memory grows. */
export async function soak(stage: Stage, { minutes }: Options): Promise<Findings> {
  const service = await stage.startService("soak");
  const gateway = await stage.startGateway(service);
  const samples = LOADS.map((): Sample[] => []);
  const memory = { server: [] as number[], gateway: [] as number[] };

  for (let minute = 1; minute <= minutes; minute++) {
    for (const [i, { name, ...load }] of LOADS.entries()) {
      const answering = load.transport === "rest" ? gateway : service.program;
      const { problems, ...sample } = await measuredLoad(
        { loader: stage.loader, service, programs: [answering], booked: true },
        { ...load, call: "mint", rampSeconds: 0, seconds: TURN_SECONDS },
      );
      stage.blameAll(name, problems);
      samples[i]?.push(sample);
    }
    memory.server.push(rounded(residentMebibytes(service.program.process.pid), 0));
    memory.gateway.push(rounded(residentMebibytes(gateway.process.pid), 0));
    progress(
      `soak: minute ${String(minute)}, MiB of server and gateway: ${String(memory.server.at(-1))}, ${String(memory.gateway.at(-1))}`,
    );
  }

  await stop(gateway);
  await stage.checkBooks(service);
  return {
    settings: { minutes, database: "SQLite, synchronous=FULL" },
    series: LOADS.map(({ name }, i) => ({ name, yardstick: null, samples: samples[i] ?? [] })),
    figures: [...memoryFigures("server", memory.server), ...memoryFigures("gateway", memory.gateway)],
  };
}

/** The peak of memory in the last span, and its ratio to that of the second span. */
function memoryFigures(name: string, byMinute: readonly number[]): Figure[] {
  const span = Math.ceil(byMinute.length / SPANS);
  const peaks = Array.from({ length: SPANS }, (_, i) => byMinute.slice(i * span, (i + 1) * span))
    .filter((minutes) => minutes.length > 0)
    .map((minutes) => Math.max(...minutes));
  const last = peaks.at(-1) ?? NaN;
  return [
    { name: `memory of the ${name}, last quarter of the time`, value: last, unit: "MiB" },
    ratioFigure(`memory of the ${name}, last quarter ÷ second`, last / (peaks[1] ?? last)),
  ];
}
