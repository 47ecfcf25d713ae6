import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { ownEnvironment, type Program, start, type StartOptions } from "./servers.js";
import { ServiceClient } from "./service-client.js";

/** What every mint of the benchmark mints. */
export const AMOUNT = "1250.00";
const AMOUNT_CENTS = 125_000;

const ACCOUNTS = 100;
const WRONG_ACCOUNTS_SHOWN_MAX = 3;

/**
 * A service with a database of its own, an organization on it, and what the benchmark has done to
 * that.
 */
export interface Service {
  program: Program;
  /** How its server was started: more can be started the same way. */
  startOptions: StartOptions;
  kesc: string;
  databaseUrl: string;
  apiKey: string;
  accountIds: string[];
  /** Mints that were answered with yes, for each account. */
  acknowledged: number[];
  /** The next mint's serial number. */
  nextSerial: number;
}

/**
 * Makes a SQLite database in `folder`, or fills an empty one, with an organization, a key and
 * accounts, and starts a server on it.
 */
export async function startService(options: {
  name: string;
  kesc: string;
  /** How its server is started, when that is not the command itself. */
  entry?: StartOptions["entry"];
  folder: string;
  /** An empty database; absent: a new one in `folder`. */
  databaseUrl?: string;
  env: Record<string, string>;
  /** Hears of the server as soon as it runs, and sees to it that it is stopped. */
  keep: (program: Program) => Program;
}): Promise<Service> {
  const { name, kesc, entry = [kesc], folder, keep } = options;
  const { databaseUrl = `sqlite:${join(folder, `${name}.db`)}` } = options;
  const env = { DATABASE_URL: databaseUrl, KESC_LOG_LEVEL: "info", KESC_GRPC_ADDRESS: "127.0.0.1:0", ...options.env };
  await runKesc(kesc, ["migrate"], env);
  const startOptions = { name, entry, args: ["server"], env, logFolder: folder };
  const program = keep(await start(startOptions));
  return newTenant({ program, startOptions, kesc, databaseUrl });
}

/** Makes another organization, with a key and accounts, on a service that runs. */
export async function newTenant(
  on: Pick<Service, "program" | "startOptions" | "kesc" | "databaseUrl">,
  accounts = ACCOUNTS,
): Promise<Service> {
  const { program, startOptions, kesc, databaseUrl } = on;
  const env = { DATABASE_URL: databaseUrl };
  const organization = await runKesc(kesc, ["org", "create", "--name", "bench", "--json"], env);
  const keyArgs = ["key", "create", "--org", textOf(organization, "id"), "--name", "bench", "--json"];
  const apiKey = textOf(await runKesc(kesc, keyArgs, env), "key");
  const client = new ServiceClient(program.address, apiKey);
  const accountIds = await client.createAccounts(accounts);
  client.close();
  const acknowledged = accountIds.map(() => 0);
  return { program, startOptions, kesc, databaseUrl, apiKey, accountIds, acknowledged, nextSerial: 1 };
}

/** Starts a gateway in front of the service. */
export function startGateway(
  service: Service,
  folder: string,
  entry: StartOptions["entry"] = [service.kesc],
): Promise<Program> {
  return start({
    name: "gateway",
    entry,
    args: ["gateway"],
    env: {
      KESC_GATEWAY_TARGET: service.program.address,
      KESC_HTTP_ADDRESS: "127.0.0.1:0",
      // As many as the yardstick has.
      KESC_GATEWAY_PROCESSES: "1",
      KESC_LOG_LEVEL: "info",
    },
    logFolder: folder,
  });
}

/**
 * Asks the service what it remembers: each account must hold exactly what was acknowledged, and the
 * first account must have exactly so many different transactions. Answers what is wrong.
 */
export async function problemsInBooks(service: Service): Promise<string[]> {
  const client = new ServiceClient(service.program.address, service.apiKey);
  const accounts = await client.accounts(service.accountIds);
  const wrongAccounts = accounts.flatMap((account, i) => {
    const expected = decimalOf((service.acknowledged[i] ?? 0) * AMOUNT_CENTS);
    if (account?.available_balance === expected && account.held_balance === "0.00") return [];
    const { available_balance = "nothing", held_balance = "nothing" } = account ?? {};
    return [`${service.accountIds[i] ?? ""} has ${available_balance} and ${held_balance} held, not ${expected}`];
  });
  const problems = wrongAccounts.slice(0, WRONG_ACCOUNTS_SHOWN_MAX);
  if (wrongAccounts.length > 0) problems.push(`${String(wrongAccounts.length)} accounts are wrong`);
  const ids = await client.transactionIds(service.accountIds[0] ?? "");
  client.close();
  const acknowledged = service.acknowledged[0] ?? 0;
  const distinct = new Set(ids).size;
  if (ids.length !== acknowledged || distinct !== acknowledged) {
    problems.push(`the first account lists ${String(ids.length)} transactions, not ${String(acknowledged)}`);
  }
  return problems.map((problem) => `${service.program.name}: ${problem}`);
}

/**
 * Has `kesc verify` derive every balance from the journal alone. Answers what it complains about.
 */
export async function problemsInJournal(service: Service): Promise<string[]> {
  try {
    await runKesc(service.kesc, ["verify"], { DATABASE_URL: service.databaseUrl });
    return [];
  } catch (error) {
    return [`${service.program.name}: ${String(error)}`];
  }
}

/**
 * Runs one kesc command; answers the JSON that it prints, or undefined when it prints something
 * else.
 */
async function runKesc(kesc: string, args: string[], env: Record<string, string>): Promise<unknown> {
  const { stdout } = await promisify(execFile)(kesc, args, {
    env: { ...ownEnvironment(), ...env },
  });
  return args.includes("--json") ? (JSON.parse(stdout) as unknown) : undefined;
}

function textOf(json: unknown, field: string): string {
  const value: unknown = typeof json === "object" && json !== null ? Reflect.get(json, field) : undefined;
  if (typeof value !== "string") throw new Error(`kesc printed no ${field}`);
  return value;
}

function decimalOf(cents: number): string {
  return `${String(Math.floor(cents / 100))}.${String(cents % 100).padStart(2, "0")}`;
}
