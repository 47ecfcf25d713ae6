import { type DescMethod, fromBinary, toBinary } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as IdempotencyLevel } from "@bufbuild/protobuf/wkt";

import { numberFields } from "../../../contract/contract.js";
import { readOperatorsContract } from "../../grpc/messages/contract.js";
import { JsonMessages } from "../call/contract.js";
import type { MessageJson } from "./row.js";

/**
 * What a call does: "reads" changes nothing, and a repeat of "replays" changes nothing. A repeat of
 * "acts" does the act again, or is refused.
 */
export type CallEffect = "reads" | "replays" | "acts";

const EFFECTS = {
  [IdempotencyLevel.NO_SIDE_EFFECTS]: "reads",
  [IdempotencyLevel.IDEMPOTENT]: "replays",
  [IdempotencyLevel.IDEMPOTENCY_UNKNOWN]: "acts",
} as const satisfies Record<IdempotencyLevel, CallEffect>;

let shared: AdminContract | undefined;

/** The contract that all sessions of this process share. */
export function adminContract(): AdminContract {
  return (shared ??= new AdminContract());
}

export function effectOf({ idempotency }: Pick<DescMethod, "idempotency">): CallEffect {
  return EFFECTS[idempotency];
}

/** The rpcs of operators, and their messages. */
export class AdminContract extends JsonMessages {
  readonly methods: ReadonlyMap<string, DescMethod>;

  constructor() {
    const { files, services } = readOperatorsContract();
    super(numberFields(files), () => {
      throw new Error("no response of the AdminService has a status");
    });
    const methods = services.flatMap(({ name }) => files.getService(name)?.methods ?? []);
    this.methods = new Map(methods.map((method) => [method.name, method]));
  }

  /** Encodes a request. Throws an OperatorError that names each bad field. */
  encode(rpc: string, fields: MessageJson): Buffer {
    const method = this.method(rpc);
    return Buffer.from(toBinary(method.input, this.readRequest(method, JSON.stringify(fields))));
  }

  /** Decodes a response. Every field of the message is there. */
  decode(rpc: string, bytes: Uint8Array): MessageJson {
    const method = this.method(rpc);
    return JSON.parse(this.writeResponse(method, fromBinary(method.output, bytes))) as MessageJson;
  }

  method(rpc: string): DescMethod {
    const method = this.methods.get(rpc);
    if (method === undefined) throw new Error(`no service of operators has an rpc ${rpc}`);
    return method;
  }
}
