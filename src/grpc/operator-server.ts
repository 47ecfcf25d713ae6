import type { UntypedHandleCall } from "@grpc/grpc-js";

import { operatorGate } from "./calls/operator-gate.js";
import { readOperatorsAddress } from "./messages/contract.js";
import { type GrpcServerOptions, routesOf, serve, type Serving } from "./server.js";
import type { HandlersOptions } from "./services/operator-options.js";
import { operatorRoutes } from "./services/operator-routes.js";

export interface OperatorServerOptions
  extends Omit<GrpcServerOptions, "keys">, Omit<HandlersOptions, keyof GrpcServerOptions> {}

const REQUEST_BYTES_MAX = 65_536;
/** Of a piece of a file, or of a list of acts. */
const BULK_BYTES_MAX = 1_024 * 1_024;
// Operators are few people, but a console calls for many of them over one connection.
const CALLS_MAX = 256;
const CONNECTION_CALLS_MAX = 64;

/**
 * Serves the AdminService, the SessionService, and the rpcs of organizations that operators may
 * call, for the organization that the metadata names. Rejects as `serve` does.
 */
export function startOperatorServer(options: OperatorServerOptions): Promise<Serving> {
  const { limits, listTurns } = options;
  const gate = operatorGate(options);
  const acts = operatorRoutes(options);
  const services = routesOf(options, listTurns);
  return serve(
    {
      contract: readOperatorsAddress(),
      // Nobody is known before the key was read from the database.
      organizationOf: () => undefined,
      handlerOf: ({ name }, rpc, dependencies) =>
        (services[name] ?? acts)[rpc.localName]?.(rpc, { ...dependencies, gate }) as UntypedHandleCall | undefined,
    },
    {
      ...options,
      limits: {
        ...limits,
        requestBytesMax: REQUEST_BYTES_MAX,
        bulkBytesMax: BULK_BYTES_MAX + REQUEST_BYTES_MAX,
        callsMax: CALLS_MAX * 2,
        openCallsMax: CALLS_MAX,
        concurrentCallsMax: CONNECTION_CALLS_MAX,
      },
    },
  );
}
