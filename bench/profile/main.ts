/** `make profile`: the processor time of a call by the code that uses it, on all threads. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { kescAt, REPOSITORY } from "../options.js";
import { rounded } from "../report/figures.js";
import { machineLine, thisMachine } from "../report/machine.js";
import { keep } from "../report/results.js";
import { cell, tableOf } from "../report/table.js";
import { type Calls, measuredLoad } from "../servers/measured-load.js";
import { type Entry, type Program, stop } from "../servers/programs.js";
import type { Service } from "../servers/service.js";
import { Stage } from "../stage.js";
import { eachSample, readProfiles, type Span } from "./cpu-profile.js";
import { phaseOf } from "./phases.js";

const IN_FLIGHT = 100;
const WARM_UP_SECONDS = 2;
const SECONDS = 8;
const SAMPLING_MICROSECONDS = 250;
/** Code with less in every column shares one row. */
const ROW_MICROS_MIN = 1;
const SMALL = "code below 1 µs";

/** Microseconds a call, by the code's name. */
type Phases = ReadonlyMap<string, number>;

// Not the bundle: the profile is by file.
const kesc = kescAt(REPOSITORY, { isCompiled: true });
await Stage.run(kesc, async (stage) => {
  const at = new Date().toISOString();
  const machine = thisMachine(kesc);
  const overGrpc = { transport: "grpc", connections: 1 } as const;
  const calls = new Map<string, Phases>();

  const lender = await stage.startService("lender");
  const echoFolder = folderOf(stage, "empty");
  const echo = await stage.startOwn("profiled-echo", "echo/grpc-echo.js", flagsOf(echoFolder));
  const empty = { stage, service: lender, program: echo, folder: echoFolder };
  calls.set("empty call", await profiled(empty, { ...overGrpc, call: "empty" }));

  for (const [name, call] of [
    ["mint", "mint"],
    ["GetAccount", "getAccount"],
  ] as const) {
    const folder = folderOf(stage, name);
    const service = await stage.startService(name, { entry: profiledKesc(folder) });
    const target = { stage, service, program: service.program, folder };
    calls.set(name, await profiled(target, { ...overGrpc, call }));
  }

  const folder = folderOf(stage, "gateway");
  const gateway = await stage.startGateway(lender, { entry: profiledKesc(folder) });
  const rest = { transport: "rest", connections: IN_FLIGHT, call: "mint" } as const;
  calls.set("REST mint, gateway", await profiled({ stage, service: lender, program: gateway, folder }, rest));

  const profile = { at, machine, calls: [...calls.keys()], rows: rowsOf([...calls.values()]) };
  const lines = profile.rows.map(({ name, micros }) => [name, ...micros.map((value) => cell(value, 1))]);
  process.stdout.write(`${machineLine(machine)}\nprocessor time, µs a call, ${String(IN_FLIGHT)} in flight\n\n`);
  process.stdout.write(`${tableOf([["", ...profile.calls], ...lines])}\n`);
  process.stdout.write(`\nKept in ${keep(profile, { profile })}.\n`);
});

function folderOf(stage: Stage, name: string): string {
  const folder = join(stage.folder, `profile-${name}`);
  mkdirSync(folder);
  return folder;
}

function flagsOf(folder: string): string[] {
  return ["--cpu-prof", `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${String(SAMPLING_MICROSECONDS)}`];
}

/** The kesc command with the flags of its first line; each thread leaves a profile. */
function profiledKesc(folder: string): Entry {
  const own = readFileSync(kesc, "utf8").split("\n", 1)[0]?.match(/--\S+/g) ?? [];
  return [process.execPath, ...own, ...flagsOf(folder), kesc];
}

/** Loads the program, ends it, and reads the profiles of its threads for the measured time. */
async function profiled(
  { stage, service, program, folder }: { stage: Stage; service: Service; program: Program; folder: string },
  calls: Pick<Calls, "transport" | "connections" | "call">,
): Promise<Phases> {
  const target = { loader: stage.loader, service, programs: [program], booked: false } as const;
  const job = { ...calls, inFlight: IN_FLIGHT, rampSeconds: 0 };
  await measuredLoad(target, { ...job, seconds: WARM_UP_SECONDS });
  const from = nowMicroseconds();
  const { started, problems } = await measuredLoad(target, { ...job, seconds: SECONDS });
  const span = { from, to: nowMicroseconds() };
  await stop(program);
  if (Object.keys(problems).length > 0) throw new Error(`${program.name}: ${JSON.stringify(problems)}`);
  return phasesIn(folder, span, started);
}

function phasesIn(folder: string, span: Span, calls: number): Phases {
  const phases = new Map<string, number>();
  for (const profile of readProfiles(folder)) {
    eachSample(profile, span, (stack, microseconds) => {
      const phase = phaseOf(stack);
      if (phase !== "idle") phases.set(phase, (phases.get(phase) ?? 0) + microseconds / calls);
    });
  }
  return phases;
}

/** The largest first; small ones are added up. */
function rowsOf(calls: Phases[]): { name: string; micros: (number | null)[] }[] {
  const largest = (name: string): number => Math.max(...calls.map((phases) => phases.get(name) ?? 0));
  const names = [...new Set(calls.flatMap((phases) => [...phases.keys()]))];
  const shown = names.filter((name) => largest(name) >= ROW_MICROS_MIN).toSorted((a, b) => largest(b) - largest(a));
  const row = (name: string, of: string[]): { name: string; micros: (number | null)[] } => ({
    name,
    micros: calls.map((phases) => {
      const micros = of.reduce((total, one) => total + (phases.get(one) ?? 0), 0);
      return micros === 0 ? null : rounded(micros, 1);
    }),
  });
  const small = names.filter((name) => !shown.includes(name));
  return [...shown.map((name) => row(name, [name])), row(SMALL, small)];
}

function nowMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}
