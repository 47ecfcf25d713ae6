import type { JsonObject } from "@bufbuild/protobuf";

import { bytesOf, jsonMethod, routeOf, textOf } from "../../support/callers/contract-requests.js";
import type { InProcess } from "../../support/service/in-process.js";
import type { Tenant } from "../../support/service/tenants.js";
import type { Known } from "./inputs/values.js";

/** Calls an rpc that must work; returns the resource of its response. */
export async function done(
  service: InProcess,
  name: string,
  request: JsonObject,
  { key }: Tenant,
): Promise<JsonObject> {
  const { rpc, responseField } = routeOf(name);
  const { message, response } = await service.grpc.call(jsonMethod(rpc), bytesOf(rpc.input, request), { key });
  const resource = response?.[responseField?.name ?? ""];
  if (resource === undefined) throw new Error(`${name}: ${message}`);
  return resource as JsonObject;
}

/**
 * Makes accounts with money, and transactions: several of the first organization, and one of each
 * of the second.
 */
export async function givenThings(service: InProcess): Promise<Known> {
  const accountIds: string[] = [];
  const transactionIds: string[] = [];
  for (const tenant of [service.a, service.a, service.a, service.a, service.b]) {
    const user_id = `user-${String(accountIds.length)}`;
    const account = await done(service, "CreateAccount", { user_id, phone_number: "0712345678" }, tenant);
    const movement = { account_id: textOf(account["id"]), amount: "1000000.00", reference: `first of ${user_id}` };
    const transaction = await done(service, "Mint", movement, tenant);
    accountIds.push(movement.account_id);
    transactionIds.push(textOf(transaction["id"]));
  }
  return { accountIds, transactionIds };
}
