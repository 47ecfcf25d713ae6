import { fileURLToPath } from "node:url";

import { IdempotencyLevel, load, type MethodDefinition, type ServiceDefinition } from "@grpc/proto-loader";

import { packageFile } from "../../../runtime/files/package-file.js";

const INCLUDE = packageFile("dist/proto/include");
const FILES = ["kesc/admin/v1/admin_service.proto", "kesc/admin/v1/session_service.proto"];
const SERVICES = ["kesc.admin.v1.AdminService", "kesc.admin.v1.SessionService"];

/**
 * What a call does: "reads" changes nothing, and a repeat of "replays" changes nothing. A repeat of
 * "acts" does the act again, or is refused.
 */
export type CallEffect = "reads" | "replays" | "acts";

/** One rpc of operators, as its proto file defines it. */
export interface RpcDefinition {
  /** The name on the wire: "/kesc.admin.v1.AdminService/WhoAmI". */
  readonly path: string;
  readonly effect: CallEffect;
  /** Whether the server returns a stream of messages. */
  readonly isStream: boolean;
}

const EFFECTS = {
  [IdempotencyLevel.NO_SIDE_EFFECTS]: "reads",
  [IdempotencyLevel.IDEMPOTENT]: "replays",
  [IdempotencyLevel.IDEMPOTENCY_UNKNOWN]: "acts",
} as const satisfies Record<IdempotencyLevel, CallEffect>;

/** Reads the rpcs of operators from the proto files of the package, by their names. */
export async function loadDefinitions(): Promise<ReadonlyMap<string, RpcDefinition>> {
  const loaded = await load(FILES, { includeDirs: [fileURLToPath(INCLUDE)] });
  const methods = SERVICES.flatMap((service) =>
    Object.entries((loaded[service] as ServiceDefinition | undefined) ?? {}),
  );
  return new Map(methods.map(([name, method]) => [name, definitionOf(method)]));
}

function definitionOf({ path, responseStream, options }: MethodDefinition<object, object>): RpcDefinition {
  return { path, effect: EFFECTS[options.idempotency_level], isStream: responseStream };
}
