import type { Options } from "../options.js";
import { emptyProbe, inRounds, loadProbe } from "../probe.js";
import { median, rounded } from "../report/figures.js";
import { type Figure, type Findings, ratioFigure } from "../report/report.js";
import { medianOf, ratioOf, samplesOf, type Series } from "../report/series.js";
import type { Stage } from "../stage.js";
import { blockWrites } from "./disk.js";

const IN_FLIGHT = [1, 4, 16, 64, 100, 200, 400] as const;
/** At a fixed rate, at most this many calls wait: as many as the curve's widest point has. */
const IN_FLIGHT_MAX = 400;

const emptyAt = (inFlight: number): string => `empty grpc-js handler @ ${String(inFlight)}`;
const mintAt = (inFlight: number): string => `mint @ ${String(inFlight)}`;
const EMPTY_PACED = "empty grpc-js handler at half of its peak";
const MINT_PACED = "mint at half of its peak";

/**
 * The part `curve`: rate and p99 of mints and of the empty handler against the calls in flight, and
 * the cost of one mint at rest.
 */
export async function curve(stage: Stage, { rounds, seconds }: Options): Promise<Findings> {
  const service = await stage.startService("curve");
  const disk = blockWrites(stage.folder);
  const probes = IN_FLIGHT.flatMap((inFlight) => [
    emptyProbe(stage, service, { name: emptyAt(inFlight), inFlight }),
    loadProbe(stage, service, { name: mintAt(inFlight), call: "mint", inFlight, yardstick: emptyAt(inFlight) }),
    ...(inFlight === 1 ? [disk] : []),
  ]);
  const points = await inRounds(stage, { rounds, seconds }, { what: "curve", probes });

  const [emptyPeak, mintPeak] = [peakOf(points, emptyAt), peakOf(points, mintAt)];
  const paced = { inFlight: IN_FLIGHT_MAX, call: "mint", yardstick: EMPTY_PACED } as const;
  const halves = await inRounds(
    stage,
    { rounds, seconds },
    {
      what: "half of the peak",
      probes: [
        emptyProbe(stage, service, { name: EMPTY_PACED, inFlight: IN_FLIGHT_MAX, ratePerSecond: emptyPeak / 2 }),
        loadProbe(stage, service, { ...paced, name: MINT_PACED, ratePerSecond: mintPeak / 2 }),
      ],
    },
  );
  await stage.checkBooks(service);
  // 0.5 each if the load could hold the rates.
  const held = [rateOf(halves, MINT_PACED) / mintPeak, rateOf(halves, EMPTY_PACED) / emptyPeak];
  const shares = held.map((share) => share.toFixed(2)).join(" and ");
  return {
    settings: { rounds, seconds, database: "SQLite, synchronous=FULL", "rates held, of the peaks": shares },
    series: [...points, ...halves],
    figures: [figureAtRest(points, disk.name), ...figuresAtHalf(halves, { emptyPeak, mintPeak })],
  };
}

function rateOf(series: Series[], name: string): number {
  return medianOf(samplesOf(series, name), "callsPerSecond") ?? NaN;
}

function peakOf(points: Series[], nameAt: (inFlight: number) => string): number {
  return Math.max(...IN_FLIGHT.map((inFlight) => rateOf(points, nameAt(inFlight))));
}

/** One mint, alone, against its necessary parts: one call, and one block on disk. */
function figureAtRest(points: Series[], disk: string): Figure {
  const p50 = (name: string): number[] => samplesOf(points, name).map(({ p50Millis }) => p50Millis ?? NaN);
  const [empty, mint, write] = [p50(emptyAt(1)), p50(mintAt(1)), p50(disk)];
  const ratios = mint.map((millis, round) => millis / ((empty[round] ?? NaN) + (write[round] ?? NaN)));
  return ratioFigure("one mint alone ÷ (one empty call + one write with fdatasync), p50", median(ratios));
}

function figuresAtHalf(halves: Series[], peaks: { emptyPeak: number; mintPeak: number }): Figure[] {
  const p99 = ratioOf(samplesOf(halves, MINT_PACED), samplesOf(halves, EMPTY_PACED), "p99Millis");
  return [
    { name: "peak of mints", value: rounded(peaks.mintPeak, 0), unit: "calls/s" },
    { name: "peak of the empty handler", value: rounded(peaks.emptyPeak, 0), unit: "calls/s" },
    ratioFigure("p99 of mints ÷ empty calls, each at half of its peak", p99),
  ];
}
