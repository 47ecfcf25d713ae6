import { BinaryWriter } from "@bufbuild/protobuf/wire";

import { AdminServiceService } from "../../gen/kesc/admin/v1/admin_service.js";
import { SessionServiceService } from "../../gen/kesc/admin/v1/session_service.js";
import { unary, type UnaryRoute, type UnaryRpc } from "../calls/unary-call.js";
import { upload, type UploadRoute, type UploadRpc } from "../calls/upload-call.js";

const RPCS = { ...AdminServiceService, ...SessionServiceService };
type RpcName = keyof typeof RPCS;
export type RequestOf<Name extends RpcName> = ReturnType<(typeof RPCS)[Name]["requestDeserialize"]>;
export type ResponseOf<Name extends RpcName> = Parameters<(typeof RPCS)[Name]["responseSerialize"]>[0];

/** An rpc of the AdminService or of the SessionService, without its messages. */
export type OperatorRpc<Name extends RpcName, Input> = Omit<
  UnaryRpc<RequestOf<Name>, Input, ResponseOf<Name>, undefined>,
  "request" | "response"
>;

/** Makes an rpc of operators, whose messages the contract has under its name. */
export function adminRpc<Name extends RpcName, Input>(name: Name, rpc: OperatorRpc<Name, Input>): UnaryRoute {
  return unary({ ...messagesOf(name), ...rpc });
}

/** Makes such an rpc that takes a file. */
export function adminUpload<Name extends RpcName, Input>(
  name: Name,
  rpc: Omit<UploadRpc<RequestOf<Name>, Input, ResponseOf<Name>, undefined>, "request" | "response">,
): UploadRoute {
  return upload({ ...messagesOf(name), ...rpc });
}

function messagesOf<Name extends RpcName>(
  name: Name,
): Pick<UnaryRpc<RequestOf<Name>, unknown, ResponseOf<Name>>, "request" | "response"> {
  const { requestDeserialize, responseSerialize } = RPCS[name];
  return {
    request: { decode: (bytes) => requestDeserialize(Buffer.from(bytes)) as RequestOf<Name> },
    response: { encode: (message, writer = new BinaryWriter()) => writer.raw(responseSerialize(message as never)) },
  };
}
