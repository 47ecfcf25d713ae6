import { setTimeout as sleep } from "node:timers/promises";

import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { atTheEnd } from "../../support/at-the-end.js";
import { GrpcCaller } from "../../support/callers/grpc-caller.js";
import { type Ended, kescJson, kescProcess } from "../../support/service/kesc.js";
import { type Audit, audit } from "../chaos/audit.js";
import { Clients } from "../chaos/clients.js";
import { Victim } from "../chaos/victim.js";
import type { Random } from "../random.js";
import { Readers } from "./readers.js";

export interface UpgradeOptions {
  /** An empty database of PostgreSQL. */
  readonly databaseUrl: string;
  /** The kesc commands of the two builds. */
  readonly oldProgram: string;
  readonly newProgram: string;
  /** How long the load goes on after each step. */
  readonly millisPerStep: number;
  readonly random: Random;
  readonly onStep: (step: string) => void;
}

export interface UpgradeResult {
  /** The commands that were acknowledged, and how often one was repeated. */
  readonly commands: number;
  readonly retries: number;
  readonly reads: number;
  readonly readRetries: number;
  /** Calls that failed although they were repeated as docs/api.md says, and servers that ended. */
  readonly failed: readonly string[];
  readonly audit: Audit;
  readonly verify: Ended;
}

const CLIENTS = 16;

/**
 * Replaces the servers of one database by those of the next release, one by one, under load:
 * migrates while the old ones serve, restarts an old one on the new schema, stops one as a
 * supervisor does, and kills the other with -9.
 */
export async function rollingUpgrade(options: UpgradeOptions): Promise<UpgradeResult> {
  const { databaseUrl, oldProgram, newProgram, millisPerStep, random, onStep } = options;
  const variables = { DATABASE_URL: databaseUrl };
  const tenant = await prepare(databaseUrl, oldProgram);
  const [first, second] = [new Victim(databaseUrl), new Victim(databaseUrl)];
  for (const server of [first, second]) atTheEnd(() => server.kill());
  const failed: string[] = [];
  await first.start(oldProgram);
  await second.start(oldProgram);

  const addresses = [first.address, second.address];
  const clients = new Clients(addresses, { key: tenant.key, random, count: CLIENTS });
  const readers = new Readers(addresses, tenant.key);
  const step = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    onStep(name);
    await work();
    await sleep(millisPerStep);
  };
  await step("two old servers under load", async () => {
    await clients.start();
    readers.start();
  });
  await step("the new kesc migrates while they serve", async () => {
    const { code, stderr } = await kescProcess(["migrate"], variables, { program: newProgram });
    // No new server starts without it.
    if (code !== 0) throw new Error(`kesc migrate: ${stderr}`);
  });
  await step("an old server is killed, and starts again on the new schema", async () => {
    await second.kill();
    await second.start(oldProgram);
  });
  await step("the other old server is stopped, and a new one takes its place", async () => {
    const exit = await first.stop();
    if (exit !== 0) failed.push(`the old server ended with ${String(exit)}`);
    await first.start(newProgram);
  });
  await step("the last old server is killed, and a new one takes its place", async () => {
    await second.kill();
    await second.start(newProgram);
  });
  await Promise.all([clients.stop(), readers.stop()]);

  const caller = new GrpcCaller(first.address, { key: tenant.key });
  const { organizationId } = tenant;
  const audited = await audit(clients.acknowledged, { caller, databaseUrl, organizationId });
  caller.close();
  failed.push(...clients.violations, ...readers.failed, ...[first, second].flatMap(({ died }) => died ?? []));
  const verify = await kescProcess(["verify"], variables, { program: newProgram });
  for (const server of [first, second]) await server.stop();
  return {
    commands: clients.acknowledged.length,
    retries: clients.retries,
    reads: readers.reads,
    readRetries: readers.retries,
    failed,
    audit: audited,
    verify,
  };
}

/** Makes the database and an organization with the old build's commands. */
async function prepare(
  databaseUrl: string,
  program: string,
): Promise<{ readonly organizationId: OrganizationId; readonly key: string }> {
  const variables = { DATABASE_URL: databaseUrl };
  const run = (command: readonly string[]): Promise<Ended> => kescProcess(command, variables, { program });
  const { code, stderr } = await run(["migrate"]);
  if (code !== 0) throw new Error(`kesc migrate ended with ${String(code)}: ${stderr}`);
  const { id } = await kescJson<{ id: OrganizationId }>(["org", "create", "--name", "A"], variables, run);
  const args = ["key", "create", "--org", id, "--name", "upgrade", "--all-scopes", "--never-expires"];
  // Older builds call the secret "key".
  const made = await kescJson<{ secret?: string; key?: string }>(args, variables, run);
  return { organizationId: id, key: made.secret ?? made.key ?? "" };
}
