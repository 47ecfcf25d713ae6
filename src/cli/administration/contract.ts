import type { DescField, DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as IdempotencyLevel } from "@bufbuild/protobuf/wkt";

import { readOperatorsAddress, type RpcContract } from "../../grpc/messages/contract.js";
import { CalledMessages } from "../call/contract.js";
import type { MessageJson } from "./row.js";

/**
 * What a call does: "reads" changes nothing, and a repeat of "replays" changes nothing. A repeat of
 * "acts" does the act again, or is refused.
 */
export type CallEffect = "reads" | "replays" | "acts";

/** An rpc that operators may call. */
export interface AdminRpc extends RpcContract {
  readonly method: DescMethod;
  readonly effect: CallEffect;
  /** Whether a repeat can change nothing, also if only with its idempotency key. */
  readonly canReplay: boolean;
}

let shared: AdminContract | undefined;

/** The contract that all sessions of this process share. */
export function adminContract(): AdminContract {
  return (shared ??= new AdminContract());
}

/** The rpcs that operators may call, and their messages. */
export class AdminContract extends CalledMessages {
  /** By name. Of two with one name it is that of the AdminService. */
  readonly rpcs: ReadonlyMap<string, AdminRpc>;

  constructor() {
    const { services, descriptorSet } = readOperatorsAddress();
    super([descriptorSet]);
    const rpcs = services.flatMap((service) =>
      service.rpcs.map((rpc): AdminRpc => {
        const method = this.methods.get(rpc.path.slice(1));
        if (method === undefined) throw new Error(`the descriptors have no rpc ${rpc.path}`);
        const effect = effectOf(method, rpc);
        return {
          ...rpc,
          method,
          effect,
          canReplay: effect === "replays" || rpc.idempotencyKey === "taken",
        };
      }),
    );
    this.rpcs = new Map(rpcs.toReversed().map((rpc) => [rpc.method.name, rpc]));
  }

  /** Decodes a response. Every field of the message is there. */
  decode(rpc: string, bytes: Uint8Array): MessageJson {
    return JSON.parse(this.writeResponse(this.rpc(rpc).method, bytes)) as MessageJson;
  }

  /** The only message of a response. Null: the resource is the response. */
  resourceOf(rpc: string): string | null {
    const { fields } = this.rpc(rpc).method.output;
    const [only, another] = fields.filter(isResource);
    return only === undefined || another !== undefined ? null : only.name;
  }

  /** The only list of messages in a response, or its only message. Throws if there is another. */
  itemsOf(rpc: string): readonly string[] {
    const { fields } = this.rpc(rpc).method.output;
    const lists = fields.filter(({ fieldKind, message }) => fieldKind === "list" && message !== undefined);
    const [only, another] = lists.length === 0 ? fields.filter(isResource) : lists;
    if (only === undefined || another !== undefined) throw new Error(`the response of ${rpc} is not one list`);
    return [only.name];
  }

  /** Whether a call of the rpc has this field. The organization is one beside the request. */
  takes(rpc: string, field: string): boolean {
    const { input, isOfOrganization } = this.rpc(rpc);
    return input.fields.some(({ name }) => name === field) || (isOfOrganization && field === "organization_id");
  }

  rpc(name: string): AdminRpc {
    const rpc = this.rpcs.get(name);
    if (rpc === undefined) throw new Error(`no service of operators has an rpc ${name}`);
    return rpc;
  }
}

/** Whether a field is one message. A time is a value. */
function isResource({ fieldKind, message }: DescField): boolean {
  return fieldKind === "message" && !message.typeName.startsWith("google.");
}

function effectOf({ idempotency }: DescMethod, { idempotencyKey }: RpcContract): CallEffect {
  // An rpc that only reads ignores the key.
  if (idempotencyKey === "ignored") return "reads";
  return idempotency === IdempotencyLevel.IDEMPOTENT ? "replays" : "acts";
}
