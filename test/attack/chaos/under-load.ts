import { atTheEnd } from "../../support/at-the-end.js";
import { GrpcCaller } from "../../support/callers/grpc-caller.js";
import { openDatabaseAt } from "../../support/databases.js";
import { makeTenant, type Tenant, withKeys } from "../../support/service/tenants.js";
import type { Random } from "../random.js";
import { type Audit, audit, verified } from "./audit.js";
import { BookReader } from "./book-reader.js";
import { Clients } from "./clients.js";
import type { Result } from "./result.js";
import { Victim } from "./victim.js";

export interface Load {
  readonly servers: number;
  readonly organizations: number;
  readonly random: Random;
}

/** Everything that runs while somebody kills. */
export interface UnderLoad {
  readonly victims: readonly Victim[];
  /** One for each organization. */
  readonly clients: readonly Clients[];
}

const CLIENTS = 32;

/**
 * Runs servers on one database under load while `harm` kills what it likes; `harm` returns what it
 * has killed. The database has its cells already. On PostgreSQL, a reader of each book looks at it
 * all the time. Then the clients settle what they began, and the audit compares what is there with
 * what they were told.
 */
export async function underLoad(
  databaseUrl: string,
  { servers, organizations, random }: Load,
  harm: (given: UnderLoad) => Promise<readonly string[]>,
): Promise<Result> {
  const tenants = await makeTenants(databaseUrl, organizations);
  const victims = Array.from({ length: servers }, () => new Victim(databaseUrl));
  for (const victim of victims) atTheEnd(() => victim.kill());
  await Promise.all(victims.map((victim) => victim.start()));
  const addresses = victims.map(({ address }) => address);
  const count = Math.ceil(CLIENTS / organizations);
  const clients = tenants.map(({ key }) => new Clients(addresses, { key, random, count }));
  const readers = await readersOf(databaseUrl, tenants);

  await Promise.all(clients.map((each) => each.start()));
  for (const reader of readers) reader.start();
  const kills = await harm({ victims, clients });
  await Promise.all(clients.map((each) => each.stop()));
  await Promise.all(readers.map((reader) => reader.stop()));

  const audits: Audit[] = [];
  for (const [index, tenant] of tenants.entries()) {
    const { acknowledged = [] } = clients[index] ?? {};
    audits.push(await auditOf(tenant, { acknowledged, addresses, databaseUrl, random }));
  }
  const died = victims.flatMap((victim) => victim.died ?? []);
  const wrongBooks = await verified(databaseUrl);
  await Promise.all(victims.map((victim) => victim.kill()));
  return { kills, clients, audits, readers, died, wrongBooks };
}

function makeTenants(databaseUrl: string, count: number): Promise<readonly Tenant[]> {
  return withKeys(databaseUrl, async (keys) => {
    const tenants: Tenant[] = [];
    // Each goes to the cell that has the fewest so far.
    while (tenants.length < count) tenants.push(await makeTenant(keys, `organization ${String(tenants.length + 1)}`));
    return tenants;
  });
}

/** A reader of each book; none on SQLite. */
async function readersOf(databaseUrl: string, tenants: readonly Tenant[]): Promise<readonly BookReader[]> {
  const database = await openDatabaseAt(databaseUrl);
  try {
    const readers = database.cells.map(async ({ engine: { schema, table }, reader }) => {
      if (schema === undefined) return [];
      const rows = await reader.rows<{ id: string }>(`SELECT organization_id AS id FROM ${table("books")}`);
      const own = tenants.filter(({ organizationId }) => rows.some(({ id }) => id === organizationId));
      return own.map(({ organizationId }) => new BookReader(databaseUrl, { schema, organizationId }));
    });
    return (await Promise.all(readers)).flat();
  } finally {
    await database.close();
  }
}

async function auditOf(
  { key, organizationId }: Tenant,
  given: { acknowledged: Clients["acknowledged"]; addresses: readonly string[]; databaseUrl: string; random: Random },
): Promise<Audit> {
  const caller = new GrpcCaller(given.random.pick(given.addresses), { key });
  try {
    return await audit(given.acknowledged, { caller, databaseUrl: given.databaseUrl, organizationId });
  } finally {
    caller.close();
  }
}
