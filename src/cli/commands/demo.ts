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
import { storedRailAccount } from "../../storage/rails/rail-accounts.js";
import { keyCreation } from "../key-creation.js";
import { type Addresses, reachable } from "./addresses.js";
import { fillDemoBook } from "./demo-book.js";
import { type DemoLink, DemoPeople, type DemoPerson, prepareDemoPeople, refuseRealPeople } from "./demo-people.js";
import { migrateDatabase } from "./migrate.js";
import { printLine } from "./output.js";

const SANDBOX_RAIL = "sandbox" as Rail;

/** The organization of the demo. `secret` is defined only if its key was just created. */
export interface Demo {
  readonly organizationId: string;
  readonly secret: string | undefined;
  /** Whether the organization has an account at the sandbox rail. */
  readonly hasSandbox: boolean;
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
  if (existing !== undefined) {
    const sandbox = await storedRailAccount(cellOf(database, existing), existing.id, SANDBOX_RAIL);
    return { organizationId: existing.id, secret: undefined, hasSandbox: sandbox !== undefined, people };
  }
  const organization = await keys.createOrganization("demo", { isSandbox: true });
  await addSandbox(database, organization, clock());
  const { id: organizationId } = organization;
  const { secret } = await keys.createApiKey({ organizationId, name: "demo", scopes: SCOPES, expiresAt: undefined });
  return { organizationId, secret, hasSandbox: true, people };
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

/** Fills the book of a new demo. Returns a link for each of its people. */
export async function beginDemo(
  { organizationId, secret, people: prepared }: Demo,
  { grpc, operators }: BeginOptions,
  { clientTls }: Pick<Config, "clientTls">,
): Promise<readonly DemoLink[]> {
  const people = new DemoPeople(prepared, reachable(operators), usableCredentials(operators, clientTls));
  try {
    if (secret !== undefined) {
      printLine("Filling the book of the demo…");
      const client = new KescClient({
        address: reachable(grpc),
        apiKey: secret,
        credentials: usableCredentials(grpc, clientTls),
      });
      const freeze = await fillDemoBook(client);
      client.close();
      await people.act(organizationId, freeze);
    }
    return await people.links();
  } finally {
    people.close();
  }
}

/** The demo has operators, so a command on its database must say that it names nobody. */
const ON_DATABASE = '--on-database --note "for the demo"';

/**
 * Returns the text to print when all programs run. It has their addresses, and requests to paste
 * into bash one after the other.
 */
export function demoWords(
  { organizationId, secret, hasSandbox }: Demo,
  { grpc, http, links }: Addresses & { readonly links: readonly DemoLink[] },
  { hasTls }: { readonly hasTls: boolean },
): string {
  const scheme = hasTls ? "https" : "http";
  const url = `${scheme}://${reachable(http)}`;
  const aboutKey =
    secret === undefined
      ? `Set KESC_API_KEY to an API key first. To create one: ${keyCreation(organizationId)} ${ON_DATABASE}`
      : `Created organization ${organizationId} ("demo") with this key, which is shown once:\n\n  ${secret}`;
  return `
KESC is running. Ctrl-C stops it. Its log has warnings alone; KESC_LOG_LEVEL=info logs each call, too.

  REST  ${url} (in a browser: guides, and every call to try out)
  gRPC  ${grpc}

The console for your team shows payments, customers, the reserve and the journal. Each link signs in once, within five
minutes; open the second one in a private window. To get new ones, press Ctrl-C and start again: all data stays.

${links.map(({ name, link }) => `  ${name}  ${link}`).join("\n")}

${aboutKey}

Paste these requests into another terminal, with curl:

${[...(secret === undefined ? [] : [`export KESC_API_KEY=${secret}`]), ...curlLines(url, hasSandbox)].join("\n")}

The same over gRPC, with buf curl:

${bufLines(grpc, scheme).join("\n")}

or with grpcurl:

${grpcurlLines(grpc, hasTls).join("\n")}
`;
}

function curlLines(url: string, hasSandbox: boolean): string[] {
  const curl = `curl -sS -H "X-API-Key: $KESC_API_KEY"`;
  const move = (name: "mint" | "redeem", rail: string, amount: string): string => {
    const fields = String.raw`\"amount\": ${amount}, \"reference\": \"demo-${rail}-${name}\", \"rail\": \"${rail}\"`;
    const body = String.raw`"{\"account_id\": \"$ACCOUNT_ID\", ${fields}}"`;
    return `${curl} -H 'Content-Type: application/json' ${url}/transactions/${name} -d ${body}`;
  };
  const account = `'{"user_id": "amina", "phone_number": "0712345678", "email": "amina@example.com"}'`;
  const idOf = `node -pe 'JSON.parse(require("fs").readFileSync(0)).id'`;
  return [
    `ACCOUNT_ID=$(${curl} -H 'Content-Type: application/json' ${url}/accounts -d ${account} | ${idOf}); echo $ACCOUNT_ID`,
    `${move("mint", "direct", "1000.00")}; echo`,
    `${move("redeem", "direct", "250.50")}; echo`,
    // Over a rail the shillings move after the response.
    ...(hasSandbox
      ? [
          `MINT_ID=$(${move("mint", "sandbox", "500.00")} | ${idOf}); echo $MINT_ID`,
          `${move("redeem", "sandbox", "100.00")}; echo`,
          `sleep 2; ${curl} ${url}/transactions/$MINT_ID; echo`,
        ]
      : []),
    `${curl} "${url}/transactions?account_id=$ACCOUNT_ID"; echo`,
    `${curl} ${url}/accounts/$ACCOUNT_ID; echo`,
  ];
}

const GET_ACCOUNT_BODY = String.raw`"{\"account_id\": \"$ACCOUNT_ID\"}"`;

function bufLines(address: string, scheme: string): string[] {
  const socket = socketOf(address);
  const buf = `npx @bufbuild/buf curl --protocol grpc${socket === undefined ? "" : ` --unix-socket ${socket}`}`;
  const url = socket === undefined ? `${scheme}://${reachable(address)}` : "http://localhost";
  return [
    `${buf} --list-services ${url}`,
    `${buf} -H "x-api-key: $KESC_API_KEY" -d ${GET_ACCOUNT_BODY} ${url}/kesc.v1.AccountService/GetAccount`,
  ];
}

function grpcurlLines(address: string, hasTls: boolean): string[] {
  const socket = socketOf(address);
  const target = socket === undefined ? reachable(address) : `-unix ${socket}`;
  const grpcurl = hasTls && socket === undefined ? "grpcurl" : "grpcurl -plaintext";
  return [
    `${grpcurl} ${target} list`,
    `${grpcurl} -H "x-api-key: $KESC_API_KEY" -d ${GET_ACCOUNT_BODY} ${target} kesc.v1.AccountService/GetAccount`,
  ];
}

/** The path of a unix socket; undefined for host:port. */
function socketOf(address: string): string | undefined {
  return address.startsWith("unix:") ? address.slice("unix:".length) : undefined;
}
