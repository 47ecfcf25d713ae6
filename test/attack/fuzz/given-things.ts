import type { JsonObject } from "@bufbuild/protobuf";

import { bytesOf } from "../../support/rpc-caller.js";
import { textOf } from "./json-text.js";
import { ROUTES } from "./routes.js";
import type { RunningService, Tenant } from "./running-service.js";
import type { Known } from "./values.js";

/** Calls an rpc that must work; answers the resource that it answers. */
export async function done(
  service: RunningService,
  name: string,
  request: JsonObject,
  by: Tenant,
): Promise<JsonObject> {
  const route = ROUTES.find(({ rpc }) => rpc.path.endsWith(`/${name}`));
  if (route?.responseField === undefined) throw new Error(`the contract has no ${name} that answers a resource`);
  const { code, message, response } = await service.grpc.call(route.rpc, bytesOf(route.rpc.input, request), by);
  if (code !== 0) throw new Error(`${name}: ${message}`);
  return response[route.responseField.name] as JsonObject;
}

/**
 * Accounts with money and transactions of the first organization, and one of each of the second.
 */
export async function givenThings(service: RunningService): Promise<Known> {
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
