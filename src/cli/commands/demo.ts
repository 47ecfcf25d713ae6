import { SCOPES } from "../../domain/api-key.js";
import { now } from "../../startup/clock.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import type { DatabaseAddress } from "../../storage/database.js";
import { keys as openKeys } from "../../storage/keys.js";
import { migrateDatabase } from "./migrate.js";
import { keyCreation } from "./org.js";
import { printLine } from "./output.js";

/** The addresses that both programs listen on. */
export interface Addresses {
  readonly grpc: string;
  readonly http: string;
}

/** The organization of the demo. `secret` is defined only if its key was just created. */
export interface Demo {
  readonly organizationId: string;
  readonly secret: string | undefined;
}

/**
 * Migrates the database. If it has no organization, creates the organization "demo" with a key that
 * has all scopes.
 */
export async function prepareDemo(address: DatabaseAddress): Promise<Demo> {
  printLine("Migrating the database…");
  await migrateDatabase(address);
  return withCurrentDatabase(address, async (database) => {
    const keys = openKeys(database, now);
    const [existing] = await keys.organizations();
    if (existing !== undefined) return { organizationId: existing.id, secret: undefined };
    const { id: organizationId } = await keys.createOrganization("demo");
    const { secret } = await keys.createApiKey({ organizationId, name: "demo", scopes: SCOPES, expiresAt: undefined });
    return { organizationId, secret };
  });
}

/**
 * Returns the text to print when both programs run. It has their addresses, and requests to paste
 * into bash one after the other.
 */
export function demoWords(
  { organizationId, secret }: Demo,
  { grpc, http }: Addresses,
  { hasTls }: { readonly hasTls: boolean },
): string {
  const scheme = hasTls ? "https" : "http";
  const url = `${scheme}://${reachable(http)}`;
  const aboutKey =
    secret === undefined
      ? `Set KESC_API_KEY to an API key first. To create one: ${keyCreation(organizationId)}`
      : `Created organization ${organizationId} ("demo") with this key, which is shown once:\n\n  ${secret}`;
  return `
KESC is running. Ctrl-C stops it.

  REST  ${url}
  gRPC  ${grpc}

${aboutKey}

Paste these requests into another terminal, with curl:

${[...(secret === undefined ? [] : [`export KESC_API_KEY=${secret}`]), ...curlLines(url)].join("\n")}

The same over gRPC, with buf curl, which is installed here:

${bufLines(grpc, scheme).join("\n")}

or with grpcurl:

${grpcurlLines(grpc, hasTls).join("\n")}
`;
}

function curlLines(url: string): string[] {
  const curl = `curl -sS -H "X-API-Key: $KESC_API_KEY"`;
  const move = (name: "mint" | "redeem", amount: string): string => {
    const body = String.raw`"{\"account_id\": \"$ACCOUNT_ID\", \"amount\": ${amount}, \"reference\": \"demo-${name}-1\"}"`;
    return `${curl} -H 'Content-Type: application/json' ${url}/transactions/${name} -d ${body}; echo`;
  };
  const account = `'{"user_id": "amina", "phone_number": "0712345678", "email": "amina@example.com"}'`;
  const idOf = `node -pe 'JSON.parse(require("fs").readFileSync(0)).id'`;
  return [
    `ACCOUNT_ID=$(${curl} -H 'Content-Type: application/json' ${url}/accounts -d ${account} | ${idOf}); echo $ACCOUNT_ID`,
    move("mint", "1000.00"),
    move("redeem", "250.50"),
    `${curl} "${url}/transactions?account_id=$ACCOUNT_ID"; echo`,
    `${curl} ${url}/accounts/$ACCOUNT_ID; echo`,
  ];
}

const GET_ACCOUNT_BODY = String.raw`"{\"account_id\": \"$ACCOUNT_ID\"}"`;

function bufLines(address: string, scheme: string): string[] {
  const socket = socketOf(address);
  const buf = `npx buf curl --protocol grpc${socket === undefined ? "" : ` --unix-socket ${socket}`}`;
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

/** A client cannot call a wildcard address, so it calls the loopback address of the same family. */
export function reachable(address: string): string {
  return address.replace(/^0\.0\.0\.0:/, "127.0.0.1:").replace(/^\[::\]:/, "[::1]:");
}
