import type { UntypedHandleCall } from "@grpc/grpc-js";

import type { Administration, OperatorKeys } from "../../operators/ports.js";
import { readOperatorsContract } from "../messages/contract.js";
import { serve, type Serving, type ServingOptions } from "../server.js";
import { OperatorAuthenticator } from "./authenticator.js";
import type { HandlersOptions } from "./options.js";
import { operatorRoutes, type RoutesOptions } from "./routes.js";

export interface OperatorServerOptions extends ServingOptions, Omit<RoutesOptions, keyof HandlersOptions> {
  readonly administration: Administration & OperatorKeys;
}

// Operators are few people. So is what they may ask for at a time.
const REQUEST_BYTES_MAX = 65_536;
const CALLS_MAX = 64;
const CONNECTION_CALLS_MAX = 16;

/** Serves the AdminService, and nothing else. Rejects as `serve` does. */
export function startOperatorServer(options: OperatorServerOptions): Promise<Serving> {
  const { administration, limits } = options;
  const authenticator = new OperatorAuthenticator(administration);
  const routes = operatorRoutes(options);
  return serve(
    {
      contract: readOperatorsContract(),
      // Nobody is known before the key was read from the database.
      organizationOf: () => undefined,
      handlerOf: (_service, rpc, dependencies) =>
        routes[rpc.localName]?.serve(authenticator)(rpc, dependencies) as UntypedHandleCall | undefined,
    },
    {
      ...options,
      limits: {
        ...limits,
        requestBytesMax: REQUEST_BYTES_MAX,
        bulkBytesMax: REQUEST_BYTES_MAX,
        callsMax: CALLS_MAX * 2,
        openCallsMax: CALLS_MAX,
        concurrentCallsMax: CONNECTION_CALLS_MAX,
      },
    },
  );
}
