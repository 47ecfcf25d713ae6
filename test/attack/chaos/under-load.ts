import { atTheEnd } from "../../support/at-the-end.js";
import { GrpcCaller } from "../../support/callers/grpc-caller.js";
import { makeTenants, withKeys } from "../../support/service/tenants.js";
import type { Random } from "../random.js";
import { audit } from "./audit.js";
import { Clients } from "./clients.js";
import { type Result, resultOf } from "./result.js";
import { Victim } from "./victim.js";

/**
 * Runs a server under load while `harm` kills what it likes; `harm` returns the number of kills.
 * Then the clients settle what they began, and the audit compares what is there with what they
 * were told.
 */
export async function underLoad(
  databaseUrl: string,
  random: Random,
  harm: (given: { victim: Victim; clients: Clients }) => Promise<number>,
): Promise<Result> {
  const [{ key }] = await withKeys(databaseUrl, makeTenants);
  const victim = new Victim(databaseUrl);
  atTheEnd(() => victim.kill());
  await victim.start();
  const clients = new Clients(victim.address, { key, random });
  await clients.start();
  const kills = await harm({ victim, clients });
  await clients.stop();
  const caller = new GrpcCaller(victim.address, { key });
  const audited = await audit(clients.acknowledged, { caller, databaseUrl });
  caller.close();
  const { died } = victim;
  await victim.kill();
  return resultOf(kills, { clients, audit: audited, died });
}
