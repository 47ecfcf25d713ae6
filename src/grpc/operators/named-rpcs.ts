import { BinaryWriter } from "@bufbuild/protobuf/wire";

import { AdminServiceService } from "../../gen/kesc/admin/v1/admin_service.js";
import { SessionServiceService } from "../../gen/kesc/admin/v1/session_service.js";
import {
  operatorPublic,
  type OperatorRoute,
  type OperatorRpc,
  type OperatorUnary,
  operatorUnary,
} from "./operator-call.js";

const RPCS = { ...AdminServiceService, ...SessionServiceService };

/** The name of a rpc of operators: "createOrganization". */
export type RpcName = keyof typeof RPCS;
export type RequestOf<Name extends RpcName> = ReturnType<(typeof RPCS)[Name]["requestDeserialize"]>;
export type ResponseOf<Name extends RpcName> = Parameters<(typeof RPCS)[Name]["responseSerialize"]>[0];

type NamedRpc<Name extends RpcName, Input> = Omit<
  OperatorRpc<RequestOf<Name>, Input, ResponseOf<Name>>,
  "request" | "response"
>;

/** Makes the route of the rpc of this name. The contract has its messages. */
type NamedUnary = <Name extends RpcName, Input>(name: Name, rpc: NamedRpc<Name, Input>) => OperatorRoute;

/** Needs the key of an operator. */
export const unary = named(operatorUnary);
/** Needs no key, and does not know its caller. */
export const open = named(operatorPublic);

function named(routeOf: OperatorUnary): NamedUnary {
  return <Name extends RpcName, Input>(name: Name, rpc: NamedRpc<Name, Input>) => {
    const { requestDeserialize, responseSerialize } = RPCS[name];
    return routeOf<RequestOf<Name>, Input, ResponseOf<Name>>({
      request: { decode: (bytes) => requestDeserialize(Buffer.from(bytes)) as RequestOf<Name> },
      response: { encode: (message, writer = new BinaryWriter()) => writer.raw(responseSerialize(message as never)) },
      ...rpc,
    });
  };
}
