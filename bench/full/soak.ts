import { rounded } from "../figures.js";
import { measuredLoad } from "../measured-load.js";
import { residentMebibytes } from "../resident-memory.js";
import { type Program, stop } from "../servers.js";
import { startGateway } from "../service.js";
import { checkBooks } from "./books.js";
import { type Sample } from "./probe.js";
import type { Figure, Findings } from "./report.js";
import { progress, type Stage } from "./stage.js";

const TURN_SECONDS = 30;
const LOADS = [
  { name: "mint @ 100, gRPC", transport: "grpc", inFlight: 100, connections: 1 },
  { name: "mint @ 64, REST", transport: "rest", inFlight: 64, connections: 64 },
] as const;
/** The first of so many equal spans is for the heaps to find their size. */
const SPANS = 4;

/**
 * Full load for as long as one asks, over gRPC and over REST in turn: whether memory stays where it
 * is.
 */
export async function soak(stage: Stage): Promise<Findings> {
  const service = await stage.startService("soak");
  const gateway = stage.keep(await startGateway(service, stage.folder));
  const samples = LOADS.map((): Sample[] => []);
  const memory = { server: [] as number[], gateway: [] as number[] };

  for (let minute = 1; minute <= stage.options.minutes; minute++) {
    for (const [i, { name, transport, inFlight, connections }] of LOADS.entries()) {
      const answering: Program = transport === "rest" ? gateway : service.program;
      const round = await measuredLoad(
        { loader: stage.loader, service, programs: [answering], booked: true },
        { transport, call: "mint", inFlight, connections, rampSeconds: 0, seconds: TURN_SECONDS },
      );
      for (const [problem, times] of Object.entries(round.problems)) stage.blame(`${name}: ${problem}`, times);
      const serverMicrosecondsPerCall = round.mainThreadMicrosecondsPerCall + round.otherThreadsMicrosecondsPerCall;
      samples[i]?.push({ ...round, serverMicrosecondsPerCall });
    }
    memory.server.push(residentMebibytes(service.program.process.pid));
    memory.gateway.push(residentMebibytes(gateway.process.pid));
    const [server, atGateway] = [memory.server.at(-1) ?? NaN, memory.gateway.at(-1) ?? NaN].map((one) =>
      one.toFixed(0),
    );
    progress(`soak: minute ${String(minute)}, server ${String(server)} MiB, gateway ${String(atGateway)} MiB`);
  }

  await checkBooks(stage, service);
  for (const program of [gateway, service.program]) await stop(program);
  return {
    settings: { minutes: stage.options.minutes, database: "SQLite, synchronous=FULL" },
    series: LOADS.map(({ name }, i) => ({ name, yardstick: null, samples: samples[i] ?? [] })),
    figures: [...memoryFigures("server", memory.server), ...memoryFigures("gateway", memory.gateway)],
  };
}

/** The most memory of each span of time, and of the last over the second. */
function memoryFigures(name: string, byMinute: readonly number[]): Figure[] {
  const span = Math.ceil(byMinute.length / SPANS);
  const peaks = Array.from({ length: SPANS }, (_, i) => Math.max(...byMinute.slice(i * span, (i + 1) * span)));
  return [
    ...peaks.map((peak, i) => ({
      name: `memory of the ${name}, most in quarter ${String(i + 1)} of the time`,
      value: rounded(peak, 0),
      unit: "MiB",
    })),
    {
      name: `memory of the ${name}, last quarter ÷ second`,
      value: rounded((peaks.at(-1) ?? NaN) / (peaks[1] ?? NaN), 2),
      unit: "",
    },
  ];
}
