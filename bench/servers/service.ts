import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { contractOf } from "../load/contract.js";
import { ownEnvironment, type Program, type StartOptions } from "./programs.js";
import { ServiceClient } from "./service-client.js";

/** The amount of every mint. */
export const AMOUNT = "1250.00";
/** The same in cents. */
export const AMOUNT_CENTS = 125_000;

const ACCOUNTS = 100;
// Older builds, with which `make compare` compares, do not know --all-scopes and --never-expires.
const ALL_SCOPES = "accounts:read,accounts:write,transactions:read,transactions:write";
const KEY_LIMITS = ["--scopes", ALL_SCOPES, "--expires-in", "30d"];
const WRONG_ACCOUNTS_SHOWN_MAX = 3;

/** A server and an organization on its database, with the books of the benchmark's mints. */
export interface Service {
  program: Program;
  /** The server's start options: another server can be started with them. */
  startOptions: StartOptions;
  kesc: string;
  databaseUrl: string;
  apiKey: string;
  accountIds: string[];
  /** Mints that were acknowledged, for each account. */
  acknowledged: number[];
  /** The next mint's serial number. */
  nextSerial: number;
}

/** Creates an organization with a key and accounts on a service that runs. */
export async function newTenant(
  on: Pick<Service, "program" | "startOptions" | "kesc" | "databaseUrl">,
  accounts = ACCOUNTS,
): Promise<Service> {
  const { program, startOptions, kesc, databaseUrl } = on;
  const env = { DATABASE_URL: databaseUrl };
  const organization = await runKesc(kesc, ["org", "create", "--name", "bench", "--json"], env);
  const keyArgs = ["key", "create", "--org", textOf(organization, "id"), "--name", "bench", ...KEY_LIMITS, "--json"];
  const made = await runKesc(kesc, keyArgs, env);
  // Older builds call the secret "key".
  const apiKey = textOf(made, "secret" in Object(made) ? "secret" : "key");
  const client = new ServiceClient(program.address, apiKey, await contractOf(kesc));
  const accountIds = await client.createAccounts(accounts);
  client.close();
  const acknowledged = accountIds.map(() => 0);
  return { program, startOptions, kesc, databaseUrl, apiKey, accountIds, acknowledged, nextSerial: 1 };
}

/**
 * Compares the service's balances with its acknowledged mints, and the first account's list of
 * transactions. Returns the differences. The server must run.
 */
export async function problemsInBooks(service: Service): Promise<string[]> {
  const client = new ServiceClient(service.program.address, service.apiKey, await contractOf(service.kesc));
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
  if (ids.length !== acknowledged || new Set(ids).size !== acknowledged) {
    problems.push(`the first account lists ${String(ids.length)} transactions, not ${String(acknowledged)}`);
  }
  return problems.map((problem) => `${service.program.name}: ${problem}`);
}

/** Runs `kesc verify`, which derives every balance from the journal. Returns its complaints. */
export async function problemsInJournal(service: Service): Promise<string[]> {
  const env = { ...service.startOptions.env, DATABASE_URL: service.databaseUrl };
  try {
    await runKesc(service.kesc, ["verify", "--full-speed"], env).catch((error: unknown) => {
      // An older build always runs at full speed.
      if (!String(error).includes("unknown option")) throw error;
      return runKesc(service.kesc, ["verify"], env);
    });
    return [];
  } catch (error) {
    return [`${service.program.name}: ${String(error)}`];
  }
}

/** Runs one kesc command. Returns the JSON that it prints, or undefined without `--json`. */
export async function runKesc(kesc: string, args: string[], env: Record<string, string>): Promise<unknown> {
  const { stdout } = await promisify(execFile)(kesc, args, { env: { ...ownEnvironment(), ...env } });
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
