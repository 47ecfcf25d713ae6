/**
 * `make console`: how fast the pages of the console are over a full book with ten readers, and how
 * many mints a second are left beside 30 consoles that people have open. Prints, keeps nothing.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { AdminServiceService as Rpcs } from "../src/gen/kesc/admin/v1/admin_service.js";
import { mintsWithoutEnd } from "./fairness/attack.js";
import { type Engine, enginesOf } from "./full/engines.js";
import { commandLine, kescAt, REPOSITORY, wholeNumberOf } from "./options.js";
import { median, medianRatio, quantile } from "./report/figures.js";
import { machineLine, thisMachine } from "./report/machine.js";
import { tableOf } from "./report/table.js";
import { AdminClient } from "./servers/admin-client.js";
import { measuredLoad } from "./servers/measured-load.js";
import { freePort, type Program, start, stop } from "./servers/programs.js";
import { newTenant, problemsInBooks, runKesc, type Service } from "./servers/service.js";
import { progress, Stage } from "./stage.js";

const USAGE = `node dist/bench/console.js [options], with PostgreSQL if its URL is in POSTGRES_URL
  --transactions <n>  transactions of the organization (100000)
  --rounds <n>        mints in peace and beside the open consoles, in turn (11)
  --engine <name>     sqlite or postgres alone`;
const READERS = 10;
const LOADS_OF_A_PAGE = 100;
const OPEN_CONSOLES = 30;
/** Until the flood has filled the queue. */
const FLOOD_MILLIS = 5_000;
const MINTS = { transport: "grpc", call: "mint", connections: 1, rampSeconds: 0 } as const;

const options = commandLine(USAGE, () => {
  const { values } = parseArgs({
    options: {
      transactions: { type: "string", default: "100000" },
      rounds: { type: "string", default: "11" },
      engine: { type: "string", default: "" },
    },
  });
  return {
    transactions: wholeNumberOf("--transactions", values.transactions, { min: 1_000, max: 10_000_000 }),
    rounds: wholeNumberOf("--rounds", values.rounds, { min: 1, max: 1_000 }),
    engine: values.engine,
  };
});

/** A console of a service, and the people who may sign in there. */
interface Given {
  readonly stage: Stage;
  readonly service: Service;
  readonly origin: string;
  /** The path of the organization's first page. */
  readonly home: string;
  /** Another organization of the service. */
  readonly other: Service;
  /** Their keys, each of which is a session. */
  readonly people: readonly [string, ...string[]];
}

const kesc = kescAt(REPOSITORY);
const machine = thisMachine(kesc);
await Stage.run(kesc, async (stage) => {
  const tables: string[] = [];
  for (const engine of enginesOf(options)) tables.push(await measure(stage, engine));
  const problems = stage.takeProblems();
  if (problems.length > 0) throw new Error(`WRONG: ${problems.join("; ")}`);
  process.stdout.write(`${machineLine(machine)}, ${options.transactions.toLocaleString("en")} transactions\n`);
  process.stdout.write(tables.join(""));
});

async function measure(stage: Stage, { name: engine, newDatabase }: Engine): Promise<string> {
  const operators = `127.0.0.1:${String(await freePort())}`;
  const databaseUrl = await newDatabase("console");
  const port = String(await freePort());
  const origin = `http://localhost:${port}`;
  const service = await stage.startService(`console-${engine}`, {
    env: { KESC_OPERATOR_ADDRESS: operators, KESC_CONSOLE_ORIGIN: origin },
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
  });
  // Once there are operators, only one of them makes another organization.
  const other = await newTenant(service);
  const people = await keysOf(service);
  const admin = new AdminClient(operators, people[0]);
  const { response } = await admin.call(Rpcs.listOrganizations, {});
  admin.close();
  const console = await startConsole(stage, { operators, origin, port });
  const given = { stage, service, origin, home: `/${response.organizations[0]?.id ?? ""}`, people, other };
  try {
    progress(`${engine}: filling`);
    await mintsOf(given, { inFlight: 400, seconds: 86_400, callsMax: options.transactions });
    const pages = await pagesOf(given, engine);
    const flooded = await pagesInFlood(given, engine);
    const ratio = await mintsBeside(given, engine);
    for (const problem of await problemsInBooks(service)) stage.blame(problem);
    return `\n${pages}\n\n${flooded}\n\n${engine}: mints beside ${String(OPEN_CONSOLES)} open consoles ÷ in peace: ${ratio.toFixed(3)}\n`;
  } finally {
    await stop(console);
    await stop(service.program);
  }
}

async function keysOf({ kesc: command, startOptions }: Service): Promise<Given["people"]> {
  const made: string[] = [];
  while (made.length < OPEN_CONSOLES) {
    const words = ["operator", "create", `Person ${String(made.length)}`, "--role", "viewer", "--json"];
    // Without it, only the first one is made on the database.
    words.push("--on-database", "--note", "bench");
    made.push(((await runKesc(command, words, { ...startOptions.env })) as { readonly key: string }).key);
  }
  return made as unknown as Given["people"];
}

function startConsole(
  { folder }: Stage,
  { operators, origin, port }: { operators: string; origin: string; port: string },
): Promise<Program> {
  const env = {
    KESC_CONSOLE_ADDRESS: `127.0.0.1:${port}`,
    KESC_CONSOLE_ORIGIN: origin,
    KESC_CONSOLE_TARGET: operators,
  };
  return start({ name: "console", entry: [kesc], args: ["console"], env, logFolder: folder });
}

async function mintsOf(
  { stage, service }: Given,
  calls: { inFlight: number; seconds: number; callsMax?: number },
): Promise<number> {
  const target = { loader: stage.loader, service, programs: [service.program] as const, booked: true };
  const { problems, callsPerSecond } = await measuredLoad(target, { ...MINTS, ...calls });
  stage.blameAll("mints", problems);
  return callsPerSecond;
}

/** Loads each page with ten readers at once. Returns a table. */
async function pagesOf({ service, origin, home, people }: Given, engine: string): Promise<string> {
  const [token] = people;
  const htmlOf = async (path: string): Promise<string> => (await ask(origin, home + path, token)).text();
  const [payment = ""] = /\/org_[^"]+\/transactions\/txn_[^"]+/.exec(await htmlOf("/transactions")) ?? [];
  const account = `${home}/accounts/${service.accountIds[0] ?? ""}`;
  // The menu links to every page that needs no id.
  const menu = [...(await htmlOf("")).matchAll(/href="([^"]+)"/g)].map(([, path = ""]) => path);
  const withoutId = menu.filter((path) => path.startsWith(`${home}/`) && /^[a-z/]+$/.test(path.slice(home.length)));
  const paths = [...new Set([home, ...withoutId]), `${home}/supply/days`, account, `${account}/statement`, payment];
  const title = `${engine}: page with ${String(READERS)} readers, ms`;
  return timesOf({ origin, home, people }, { title, paths });
}

/** The pages that people need most, while another organization has filled its part of the queue. */
async function pagesInFlood({ stage, other, origin, home, people }: Given, engine: string): Promise<string> {
  const flood = await stage.startOwn("hostile", "fairness/hostile.js");
  flood.process.send(mintsWithoutEnd(other));
  await sleep(FLOOD_MILLIS);
  const title = `${engine}: the same beside 10,000 mints in flight, ms`;
  try {
    return await timesOf({ origin, home, people }, { title, paths: [home, `${home}/attention`] });
  } finally {
    await stop(flood);
  }
}

interface Asked {
  readonly title: string;
  readonly paths: readonly string[];
}

/** Returns a table with the times of each page. */
async function timesOf(
  { origin, home, people }: Pick<Given, "origin" | "home" | "people">,
  { title, paths }: Asked,
): Promise<string> {
  const rows: string[][] = [];
  for (const path of paths) {
    progress(`${title}: ${path}`);
    const millis: number[] = [];
    const read = async (token: string): Promise<void> => {
      while (millis.length < LOADS_OF_A_PAGE) {
        const startedAt = performance.now();
        const response = await ask(origin, path, token);
        const html = await response.text();
        if (!response.ok || /QUEUE_FULL|refused bad/.test(html))
          throw new Error(`${path}: ${String(response.status)}\n${html}`);
        millis.push(performance.now() - startedAt);
      }
    };
    await Promise.all(people.slice(0, READERS).map(read));
    const shown = path.replace(home, "").replace(/_[0-9a-z]{26}/, "_…");
    rows.push([
      shown === "" ? "Today" : shown,
      ...[median(millis), quantile(millis, 0.95)].map((value) => value.toFixed(0)),
    ]);
  }
  return tableOf([[title, "median", "p95"], ...rows]);
}

/** Returns the median of the rounds' ratios. */
async function mintsBeside(given: Given, engine: string): Promise<number> {
  const rates = { peace: [] as number[], beside: [] as number[] };
  const load = { inFlight: 100, seconds: 3 };
  await mintsOf(given, load);
  for (let round = 0; round < options.rounds; round++) {
    progress(`${engine}: round ${String(round + 1)} of ${String(options.rounds)}`);
    const both = {
      peace: async () => mintsOf(given, load),
      beside: async () => {
        const close = await openConsoles(given);
        return mintsOf(given, load).finally(close);
      },
    };
    for (const name of round % 2 === 0 ? (["peace", "beside"] as const) : (["beside", "peace"] as const)) {
      rates[name].push(await both[name]());
    }
  }
  return medianRatio(rates.beside, rates.peace);
}

/** Loads a page, or opens a stream, as a person whose key is in the cookie. */
function ask(origin: string, path: string, token: string, signal?: AbortSignal): Promise<Response> {
  const headers = { cookie: `kesc-${new URL(origin).port}=${token}` };
  return fetch(origin + path, { headers, redirect: "error", ...(signal === undefined ? {} : { signal }) });
}

/** Opens the first page of each person, and its stream. Returns what closes them. */
async function openConsoles({ origin, home, people }: Given): Promise<() => void> {
  const abort = new AbortController();
  for (const token of people) {
    const html = await (await ask(origin, home, token)).text();
    const stream = /data-stream="([^"]+)"/.exec(html)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const { body, status } = await ask(origin, stream, token, abort.signal);
    if (status !== 200) throw new Error(`${stream}: ${String(status)}`);
    void body?.pipeTo(new WritableStream()).catch(() => undefined);
  }
  return () => {
    abort.abort();
  };
}
