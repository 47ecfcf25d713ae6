import type { UntypedHandleCall } from "@grpc/grpc-js";

import type { Organization } from "../../domain/api-key.js";
import type { Administration, OperatorKeys } from "../../operators/ports.js";
import { readOperatorsContract } from "../messages/contract.js";
import { serve, type Serving, type ServingOptions } from "../server.js";
import type { ServedCell } from "../services/served-cell.js";
import { accountRpcs } from "./account-rpcs.js";
import { OperatorAuthenticator } from "./authenticator.js";
import { bookRpcs, type BookRpcsOptions } from "./book-rpcs.js";
import { keyRpcs } from "./key-rpcs.js";
import { limitRpcs } from "./limit-rpcs.js";
import { operatorStream, operatorUnary } from "./operator-call.js";
import { operatorRpcs } from "./operator-rpcs.js";
import { organizationRpcs } from "./organization-rpcs.js";
import { proposalRpcs } from "./proposal-rpcs.js";
import { railRpcs, type RailRpcsOptions } from "./rail-rpcs.js";

export interface OperatorServerOptions
  extends ServingOptions, Pick<BookRpcsOptions, "bookReads" | "listTurns">, Pick<RailRpcsOptions, "railReads"> {
  /** Returns the cell of an organization, whose ledger the server has for all calls. */
  readonly cellOf: (organization: Pick<Organization, "cell">) => Pick<ServedCell, "ledger" | "reads" | "history">;
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
  const unary = operatorUnary(authenticator);
  const routes = {
    ...organizationRpcs(unary, options),
    ...keyRpcs(unary, options),
    ...limitRpcs(unary, options),
    ...bookRpcs(unary, options),
    ...railRpcs(unary, options),
    ...accountRpcs(operatorStream(authenticator), options),
    ...operatorRpcs(unary, options),
    ...proposalRpcs(unary, options),
  };
  return serve(
    {
      contract: readOperatorsContract(),
      // Nobody is known before the key was read from the database.
      organizationOf: () => undefined,
      handlerOf: (_service, rpc, dependencies) =>
        routes[rpc.localName]?.(rpc, dependencies) as UntypedHandleCall | undefined,
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
