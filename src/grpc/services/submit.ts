import type { ApiKey } from "../../domain/api-key.js";
import type { Command, ResourceOf } from "../../domain/operations.js";
import type { Actor } from "../../domain/values/actor.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import { actorOf, type Caller } from "../calls/call-context.js";
import { resultOf, type RpcResult } from "../calls/rpc-result.js";
import type { CellOf } from "./served-cell.js";

/** Returns the fields of a command that say whose it is, and who gives it. */
export function authorOf(key: ApiKey): { readonly organizationId: OrganizationId; readonly actor: Actor } {
  return { organizationId: key.organizationId, actor: actorOf(key) };
}

/** Submits the command of a call, and makes the result of the call from its outcome. */
export async function submit<Given extends Command, Response>(
  cellOf: CellOf,
  { key, deadline, trace }: Caller,
  command: Given,
  responseOf: (resource: ResourceOf<Given>) => Response,
): Promise<RpcResult<Response>> {
  return resultOf(await cellOf(key).ledger.submit(command, deadline, { trace }), responseOf);
}
