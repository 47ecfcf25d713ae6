/**
 * `make profile`: where the time of a mint goes, on both threads, next to that of an empty call.
 * Prints a table.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import type { Job } from "../load/job.js";
import { load } from "../load-process.js";
import { machineLine, thisMachine } from "../machine.js";
import { REPOSITORY } from "../options.js";
import { type Program, start, stop } from "../servers.js";
import { AMOUNT, startGateway, startService } from "../service.js";
import { aligned } from "../table.js";
import { eachSample, readProfiles, type Span } from "./cpu-profile.js";
import { phaseOf } from "./phases.js";

const KESC = join(REPOSITORY, "dist/src/cli/kesc.js");
const OUT = join(REPOSITORY, "bench/out");
const IN_FLIGHT = 100;
const WARM_UP_SECONDS = 2;
const SECONDS = 8;
const SAMPLING_MICROSECONDS = 250;

interface Profiled {
  readonly name: string;
  /** Microseconds a call, by phase. */
  readonly phases: ReadonlyMap<string, number>;
}

/**
 * A Node program that leaves a CPU profile of each of its threads in the folder, with the flags
 * that its first line names.
 */
function profiled(file: string, folder: string): [string, ...string[]] {
  const flags = readFileSync(file, "utf8").split("\n", 1)[0]?.match(/--\S+/g) ?? [];
  const profiling = ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${String(SAMPLING_MICROSECONDS)}`];
  return [process.execPath, ...flags, ...profiling, file];
}

function nowMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

function phasesIn(folder: string, span: Span, calls: number): Map<string, number> {
  const phases = new Map<string, number>();
  for (const profile of readProfiles(folder)) {
    eachSample(profile, span, (stack, microseconds) => {
      const phase = phaseOf(stack);
      if (phase !== "idle") phases.set(phase, (phases.get(phase) ?? 0) + microseconds / calls);
    });
  }
  return phases;
}

/** Loads the program, ends it, and reads what its threads did meanwhile. */
async function profile(
  { name, loader, program, folder }: { name: string; loader: Program; program: Program; folder: string },
  job: Omit<Job, "inFlight" | "rampSeconds" | "seconds" | "addresses" | "amount" | "firstSerial">,
): Promise<Profiled> {
  const addresses: Job["addresses"] = [program.address];
  const whole = { ...job, addresses, inFlight: IN_FLIGHT, amount: AMOUNT, rampSeconds: 0 };
  const warmUp = await load(loader, { ...whole, firstSerial: 1, seconds: WARM_UP_SECONDS });
  const from = nowMicroseconds();
  const { started, problems } = await load(loader, { ...whole, firstSerial: warmUp.started + 1, seconds: SECONDS });
  const to = nowMicroseconds();
  await stop(program);
  if (Object.keys(problems).length > 0) throw new Error(`${name}: ${JSON.stringify(problems)}`);
  return { name, phases: phasesIn(folder, { from, to }, started) };
}

async function main(): Promise<void> {
  mkdirSync(OUT, { recursive: true });
  const folder = mkdtempSync(join(OUT, "profile-"));
  const running: Program[] = [];
  const keep = (program: Program): Program => {
    running.push(program);
    return program;
  };
  const child = (file: string): string => join(import.meta.dirname, "..", file);
  const startPlain = async (name: string, entry: [string, ...string[]]): Promise<Program> =>
    keep(await start({ name, entry, logFolder: folder }));
  const of = (name: string): string => {
    const own = join(folder, name);
    mkdirSync(own);
    return own;
  };
  try {
    const loader = await startPlain("load", [process.execPath, child("load/main.js")]);
    const results: Profiled[] = [];
    const nobody = { apiKey: "", accountIds: [""] };

    const emptyFolder = of("empty");
    const echo = await startPlain("grpc-echo", profiled(child("echo/grpc-echo.js"), emptyFolder));
    const overGrpc = { transport: "grpc", connections: 1 } as const;
    results.push(
      await profile(
        { name: "empty call", loader, program: echo, folder: emptyFolder },
        { ...overGrpc, call: "empty", ...nobody },
      ),
    );

    for (const [name, call] of [
      ["mint", "mint"],
      ["GetAccount", "getAccount"],
    ] as const) {
      const own = of(name);
      const service = await startService({ name, kesc: KESC, entry: profiled(KESC, own), folder, env: {}, keep });
      const { program, apiKey, accountIds } = service;
      results.push(await profile({ name, loader, program, folder: own }, { ...overGrpc, call, apiKey, accountIds }));
    }

    const own = of("gateway");
    const service = await startService({ name: "server", kesc: KESC, folder, env: {}, keep });
    const gateway = keep(await startGateway(service, folder, profiled(KESC, own)));
    const { apiKey, accountIds } = service;
    results.push(
      await profile(
        { name: "REST mint, gateway", loader, program: gateway, folder: own },
        { transport: "rest", connections: IN_FLIGHT, call: "mint", apiKey, accountIds },
      ),
    );
    print(results);
  } finally {
    for (const program of running.reverse()) await stop(program);
    rmSync(folder, { recursive: true, force: true });
  }
}

function print(results: readonly Profiled[]): void {
  process.stdout.write(`${machineLine(thisMachine(REPOSITORY))}\n`);
  process.stdout.write(`processor time in microseconds a call, ${String(IN_FLIGHT)} in flight, all threads\n\n`);
  const total = ({ phases }: Profiled): number => [...phases.values()].reduce((sum, time) => sum + time, 0);
  const names = new Set(results.flatMap(({ phases }) => [...phases.keys()]));
  const largest = (phase: string): number => Math.max(...results.map(({ phases }) => phases.get(phase) ?? 0));
  const lines = [
    ["", ...results.map(({ name }) => name)],
    ...[...names]
      .toSorted((left, right) => largest(right) - largest(left))
      .map((phase) => [phase, ...results.map(({ phases }) => phases.get(phase)?.toFixed(1) ?? "")]),
    ["total", ...results.map((result) => total(result).toFixed(1))],
  ];
  for (const line of aligned(lines)) process.stdout.write(`${line}\n`);
}

await main();
