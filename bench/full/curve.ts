import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { median, rounded } from "../figures.js";
import { stop } from "../servers.js";
import { checkBooks } from "./books.js";
import { pictureOf } from "./curve-picture.js";
import { blockWrites } from "./disk.js";
import { emptyCalls, grpcProbe } from "./grpc-probes.js";
import { inRounds, samplesOf, type Series } from "./probe.js";
import { type Figure, type Findings, medianOf, ratioOf } from "./report.js";
import { OUT, type Stage } from "./stage.js";

const IN_FLIGHT = [1, 4, 16, 64, 100, 200, 400] as const;
/** At a fixed rate, no more calls than this wait at a time: as many as the curve's widest point. */
const IN_FLIGHT_MAX = 400;

const emptyAt = (inFlight: number): string => `empty grpc-js handler @ ${String(inFlight)}`;
const mintAt = (inFlight: number): string => `mint @ ${String(inFlight)}`;
const EMPTY_PACED = "empty grpc-js handler at half of its peak";
const MINT_PACED = "mint at half of its peak";

/**
 * Rate and p99 against the calls in flight, of mints and of the empty handler; and what a mint
 * costs at rest.
 */
export async function curve(stage: Stage): Promise<Findings> {
  const service = await stage.startService("curve");
  const disk = blockWrites(stage.folder);
  const points = await inRounds(
    stage,
    "curve",
    IN_FLIGHT.flatMap((inFlight) => [
      emptyCalls(stage, service, { name: emptyAt(inFlight), inFlight }),
      grpcProbe(stage, service, { name: mintAt(inFlight), call: "mint", inFlight, yardstick: emptyAt(inFlight) }),
      ...(inFlight === 1 ? [disk] : []),
    ]),
  );

  const [emptyPeak, mintPeak] = [peakOf(points, emptyAt), peakOf(points, mintAt)];
  const paced = { inFlight: IN_FLIGHT_MAX, call: "mint" } as const;
  const halves = await inRounds(stage, "half of the peak", [
    emptyCalls(stage, service, { name: EMPTY_PACED, inFlight: IN_FLIGHT_MAX, ratePerSecond: emptyPeak / 2 }),
    grpcProbe(stage, service, { ...paced, name: MINT_PACED, ratePerSecond: mintPeak / 2, yardstick: EMPTY_PACED }),
  ]);

  await checkBooks(stage, service);
  await stop(service.program);
  writeFileSync(join(OUT, "curve.svg"), pictureOf(panelsOf(points)));
  return {
    settings: { database: "SQLite, synchronous=FULL", picture: "bench/out/curve.svg" },
    series: [...points, ...halves],
    figures: [...figuresAtRest(points, disk.name), ...figuresAtHalf(halves, { emptyPeak, mintPeak })],
  };
}

function peakOf(points: Series[], nameAt: (inFlight: number) => string): number {
  return Math.max(...IN_FLIGHT.map((inFlight) => medianOf(samplesOf(points, nameAt(inFlight)), "callsPerSecond")));
}

/** How far one mint, alone, is from what it can't do without: a call, and a block on disk. */
function figuresAtRest(points: Series[], disk: string): Figure[] {
  const [empty, mint, write] = [emptyAt(1), mintAt(1), disk].map((name) => samplesOf(points, name));
  const ratios = (mint ?? []).map(({ p50Millis }, round) => {
    return p50Millis / ((empty?.[round]?.p50Millis ?? NaN) + (write?.[round]?.p50Millis ?? NaN));
  });
  return [
    {
      name: "one mint ÷ (one empty call + one write with fdatasync), p50",
      value: rounded(median(ratios), 2),
      unit: "",
    },
  ];
}

function figuresAtHalf(halves: Series[], peaks: { emptyPeak: number; mintPeak: number }): Figure[] {
  const [empty, mint] = [samplesOf(halves, EMPTY_PACED), samplesOf(halves, MINT_PACED)];
  const reached = (samples: typeof mint, peak: number): number =>
    rounded(medianOf(samples, "callsPerSecond") / peak, 2);
  return [
    { name: "peak of mints", value: rounded(peaks.mintPeak, 0), unit: "calls/s" },
    { name: "peak of the empty handler", value: rounded(peaks.emptyPeak, 0), unit: "calls/s" },
    {
      name: "mint ÷ empty, each at half of its peak, p99",
      value: rounded(ratioOf(mint, empty, "p99Millis"), 2),
      unit: "",
    },
    {
      name: "rate of the mints at half, of their peak: 0.5 if it was held",
      value: reached(mint, peaks.mintPeak),
      unit: "",
    },
    { name: "rate of the empty calls at half, of their peak", value: reached(empty, peaks.emptyPeak), unit: "" },
  ];
}

function panelsOf(points: Series[]): Parameters<typeof pictureOf>[0] {
  const curves = (figure: "callsPerSecond" | "p99Millis") =>
    [
      { label: "empty handler", nameAt: emptyAt },
      { label: "mint", nameAt: mintAt },
    ].map(({ label, nameAt }) => ({
      label,
      points: IN_FLIGHT.map((inFlight) => ({ x: inFlight, y: medianOf(samplesOf(points, nameAt(inFlight)), figure) })),
    }));
  return [
    { title: "calls per second", curves: curves("callsPerSecond") },
    { title: "p99, milliseconds", curves: curves("p99Millis") },
  ];
}
