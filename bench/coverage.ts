/** `make path`: counts the files of ours that run between a request and its answer. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { commandLine, distOf, kescAt, REPOSITORY } from "./options.js";
import { machineLine, thisMachine } from "./report/machine.js";
import type { Program } from "./servers/programs.js";
import { AMOUNT, type Service } from "./servers/service.js";
import { ServiceClient } from "./servers/service-client.js";
import { Stage } from "./stage.js";

const USAGE = `node dist/bench/coverage.js [--kesc <checkout or kesc command>]`;

const WARM_UP_CALLS = 200;
/** A file counts if it ran for each of these: timers, such as a health check, run in some only. */
const CALLS = 5;
/** The log line and other work after the answer count too. */
const SETTLE_MILLIS = 50;
/** The limit for a thread to write its counts, far more than it needs. */
const TAKE_MILLIS_MAX = 30_000;

const kesc = commandLine(USAGE, () =>
  kescAt(parseArgs({ options: { kesc: { type: "string", default: REPOSITORY } } }).values.kesc, { isCompiled: true }),
);
const DIST = distOf(kesc);

await Stage.run(kesc, async (stage) => {
  const folder = join(stage.folder, "coverage");
  mkdirSync(folder);
  const hook = pathToFileURL(join(import.meta.dirname, "coverage-hook.js")).href;
  const env = { NODE_OPTIONS: `--import=${hook}`, BENCH_COVERAGE_FOLDER: folder };
  const service = await stage.startService("server", { env });
  const gateway = await stage.startGateway(service, { env });
  const client = new ServiceClient(service.program.address, service.apiKey);
  const [accountId = ""] = service.accountIds;
  const redeem = (reference: string): Promise<unknown> => redeemOverRest(gateway, service, { accountId, reference });

  process.stdout.write(`${machineLine(thisMachine(kesc))}\n`);
  const programs = { server: service.program, gateway };
  report(
    "mint over gRPC",
    await filesOf({ folder, programs }, (reference) => client.mint(accountId, AMOUNT, reference)),
  );
  report("GetAccount over gRPC", await filesOf({ folder, programs }, () => client.accounts([accountId])));
  report("redeem over REST", await filesOf({ folder, programs }, redeem));
  client.close();
});

interface Ran {
  folder: string;
  programs: Record<"server" | "gateway", Program>;
}

/** Warms the call up, and returns the files that ran for each of CALLS single calls. */
async function filesOf({ folder, programs }: Ran, call: (reference: string) => Promise<unknown>): Promise<Files> {
  const name = String(Math.random());
  for (let i = 0; i < WARM_UP_CALLS; i++) await call(`${name}-${String(i)}`);
  const takes: Files[] = [];
  for (let i = 0; i < CALLS; i++) {
    await sleep(SETTLE_MILLIS);
    await take(folder, programs);
    await call(`${name}-counted-${String(i)}`);
    await sleep(SETTLE_MILLIS);
    takes.push(await take(folder, programs));
  }
  const [first = new Map<string, string[]>()] = takes;
  return new Map([...first].filter(([file]) => takes.every((files) => files.has(file))));
}

/** The names of the threads in which a file ran, by the file's path. */
type Files = Map<string, string[]>;

async function take(folder: string, programs: Ran["programs"]): Promise<Files> {
  // Commands that have ended have left files, too.
  const isOf = (name: string, { process: child }: Program): boolean => name.startsWith(`${String(child.pid)}-`);
  const counts = readdirSync(folder).filter((name) => Object.values(programs).some((program) => isOf(name, program)));
  for (const name of counts) rmSync(join(folder, name));
  for (const { process: child } of Object.values(programs)) child.kill("SIGUSR2");
  const giveUpAt = Date.now() + TAKE_MILLIS_MAX;
  while (!counts.every((name) => existsSync(join(folder, name)))) {
    if (Date.now() > giveUpAt) throw new Error("a thread has not written its counts");
    await sleep(SETTLE_MILLIS);
  }
  const files: Files = new Map();
  for (const [name, program] of Object.entries(programs)) {
    for (const count of counts.filter((each) => isOf(each, program))) {
      const thread = count.endsWith("-0.json") ? name : `${name}'s worker`;
      for (const url of JSON.parse(readFileSync(join(folder, count), "utf8")) as string[]) {
        const file = sourceOf(url);
        if (file !== undefined) files.set(file, [...(files.get(file) ?? []), thread]);
      }
    }
  }
  return files;
}

/** `src/…ts` of a compiled file of ours, undefined for other code; generated code is not ours. */
function sourceOf(url: string): string | undefined {
  if (!url.startsWith("file:")) return undefined;
  const path = fileURLToPath(url);
  if (!path.startsWith(DIST) || path.startsWith(`${DIST}src/gen/`) || path.startsWith(`${DIST}bench/`))
    return undefined;
  return path.slice(DIST.length).replace(/\.js$/, ".ts");
}

function report(call: string, files: Files): void {
  const lines = [...files].toSorted().map(([file, threads]) => `  ${file} (${threads.join(", ")})`);
  process.stdout.write(`\n${call}: ${String(files.size)} files\n${lines.join("\n")}\n`);
}

async function redeemOverRest(
  gateway: Program,
  { apiKey }: Service,
  { accountId, reference }: { accountId: string; reference: string },
): Promise<void> {
  const response = await fetch(`http://${gateway.address}/transactions/redeem`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ account_id: accountId, amount: 1, reference }),
  });
  if (response.status !== 201) throw new Error(`redeem: ${String(response.status)} ${await response.text()}`);
  await response.text();
}
