import { tmpdir } from "node:os";
import { join } from "node:path";

import { typeidUnboxed } from "typeid-js";

import { KescClient } from "../../../client/kesc-client.js";
import { type Organization, SCOPES } from "../../domain/api-key.js";
import type { RailAccountId } from "../../domain/payment.js";
import type { Rail } from "../../domain/transaction.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { now } from "../../startup/clock.js";
import type { Config } from "../../startup/config.js";
import { openAnyDatabase, withCurrentDatabase } from "../../startup/open-database.js";
import { ensureSealKeyFile } from "../../startup/seal-keys.js";
import { usableCredentials } from "../../startup/tls.js";
import { cellOf, type Database } from "../../storage/database.js";
import { keys as openKeys } from "../../storage/keys.js";
import { ranMigrations } from "../../storage/migrate.js";
import { DEFAULT_LIMITS, saveRailAccount } from "../../storage/rails/change-rail-accounts.js";
import { keyCreation } from "../key-creation.js";
import { unlessChanged } from "../organizations.js";
import { type Addresses, reachable } from "./addresses.js";
import { fillDemoBook } from "./demo-book.js";
import { type DemoLink, DemoPeople, type DemoPerson, prepareDemoPeople, refuseRealPeople } from "./demo-people.js";
import { migrateDatabase } from "./migrate.js";
import { printLine } from "./output.js";

const SANDBOX_RAIL = "sandbox" as Rail;
const COLUMN = "Console, Amina".length;

/** The organization of the demo. `secret` is defined only if its key was just created. */
export interface Demo {
  readonly organizationId: string;
  readonly secret: string | undefined;
  /** Who can sign in at the console. */
  readonly people: readonly DemoPerson[];
}

/**
 * Migrates the database. If it has no organization, creates the sandbox organization "demo" with an
 * account at the sandbox rail, and with a key that has all scopes. The default rail stays direct,
 * so that a request which names no rail credits at once.
 */
export async function prepareDemo({
  database: address,
  seals: { keyFile },
}: Pick<Config, "database" | "seals">): Promise<Demo> {
  await refuseDatabaseInUse(address);
  printLine("Migrating the database…");
  // This command runs the server of the demo, which has not started yet.
  await migrateDatabase(address, { serversStopped: true });
  if (ensureSealKeyFile(keyFile))
    printLine(`Created the seal key file ${keyFile}. Keep a copy apart from the backups.`);
  return withCurrentDatabase(address, (database) => makeDemo(database));
}

/** Looks before the first write, and leaves a database without operators to `makeDemo`. */
async function refuseDatabaseInUse(address: Config["database"]): Promise<void> {
  const database = await openAnyDatabase(address);
  try {
    const ran = await Promise.all(database.cells.map(ranMigrations));
    if (ran.every((names) => names.length > 0)) await refuseRealPeople(database);
  } finally {
    await database.close();
  }
}

/** Makes the organization and the people of the demo, unless the database has an organization. */
export async function makeDemo(database: Database, clock = now): Promise<Demo> {
  await refuseRealPeople(database);
  const keys = openKeys(database, clock);
  const people = await prepareDemoPeople(database, clock);
  const [existing] = await keys.organizations();
  if (existing !== undefined) return { organizationId: unlessChanged(existing).id, secret: undefined, people };
  const organization = await keys.createOrganization("demo", { isSandbox: true });
  await addSandbox(database, organization, clock());
  const { id: organizationId } = organization;
  const { secret } = await keys.createApiKey({ organizationId, name: "demo", scopes: SCOPES, expiresAt: undefined });
  return { organizationId, secret, people };
}

async function addSandbox(database: Database, organization: Organization, at: UnixMillis): Promise<void> {
  const setting = {
    id: typeidUnboxed("rail") as string as RailAccountId,
    organizationId: organization.id,
    rail: SANDBOX_RAIL,
    settings: "{}",
    credentials: undefined,
    credentialsExpireAt: undefined,
    isDefault: false,
    ...DEFAULT_LIMITS,
  };
  await saveRailAccount(database, { setting, cell: cellOf(database, organization), now: at });
}

/** An operators' address for the demo, which other users of this machine cannot call. */
export function newOperatorSocket(): string {
  return `unix:${join(tmpdir(), `kesc-operators-${String(process.pid)}.sock`)}`;
}

interface BeginOptions {
  readonly grpc: string;
  readonly operators: string;
}

/** What a start has made. */
interface DemoBegun {
  /** One for each of the people. */
  readonly links: readonly DemoLink[];
  /** An account of a new demo. */
  readonly accountId: string | undefined;
}

/** Fills the book of a new demo, and makes the links. */
export async function beginDemo(
  { organizationId, secret, people: prepared }: Demo,
  { grpc, operators }: BeginOptions,
  { clientTls }: Pick<Config, "clientTls">,
): Promise<DemoBegun> {
  const people = new DemoPeople(prepared, reachable(operators), usableCredentials(operators, clientTls));
  try {
    let accountId: string | undefined;
    if (secret !== undefined) {
      printLine("Filling the book of the demo…");
      const client = new KescClient({
        address: reachable(grpc),
        apiKey: secret,
        credentials: usableCredentials(grpc, clientTls),
      });
      const book = await fillDemoBook(client);
      client.close();
      await people.act(organizationId, book.freeze);
      ({ accountId } = book);
    }
    return { links: await people.links(), accountId };
  } finally {
    people.close();
  }
}

/** The demo has operators, so a command on its database must say that it names nobody. */
const ON_DATABASE = '--on-database --note "for the demo"';

/** Returns the text to print when all programs run: the results, and one step with curl. */
export function demoWords(
  { organizationId, secret }: Demo,
  { grpc, http, links, accountId }: Addresses & DemoBegun,
  { hasTls }: { readonly hasTls: boolean },
): string {
  const url = `${hasTls ? "https" : "http"}://${reachable(http)}`;
  const results = {
    REST: `${url} (in a browser: guides, and the calls to try out)`,
    gRPC: grpc,
    ...Object.fromEntries(links.map(({ name, link }) => [`Console, ${name}`, link])),
    Organization: `${organizationId}, a sandbox: nothing real moves`,
  };
  const curl = `curl -sS -H "X-API-Key: $KESC_API_KEY" ${url}`;
  const next =
    secret === undefined || accountId === undefined
      ? `Next, list the customers, with the key of the first start in KESC_API_KEY. Another key:
${keyCreation(organizationId)} ${ON_DATABASE}

${curl}/accounts; echo`
      : `Next, credit 1,000 KESC to a customer. Paste this into another terminal; the key is shown once:

export KESC_API_KEY=${secret}
${curl}/transactions/mint \\
  -H 'Content-Type: application/json' \\
  -d '{"account_id": "${accountId}", "amount": "1000.00", "reference": "first-mint"}'; echo`;
  return `
KESC is running. Ctrl-C stops it, and all data stays. Each link signs in once, within five minutes: open the second one in
a private window. A new start prints new links.

${Object.entries(results)
  .map(([name, text]) => `  ${name.padEnd(COLUMN)}  ${text}`)
  .join("\n")}

${next}
`;
}
