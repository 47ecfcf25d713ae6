import { BinaryWriter } from "@bufbuild/protobuf/wire";

import type { Organization } from "../../domain/api-key.js";
import { AdminServiceService } from "../../gen/kesc/admin/v1/admin_service.js";
import { SessionServiceService } from "../../gen/kesc/admin/v1/session_service.js";
import { unary, type UnaryRoute, type UnaryRpc } from "./unary-call.js";
import { upload, type UploadRoute, type UploadRpc } from "./upload-call.js";

const RPCS = { ...AdminServiceService, ...SessionServiceService };
type RpcName = keyof typeof RPCS;
export type RequestOf<Name extends RpcName> = ReturnType<(typeof RPCS)[Name]["requestDeserialize"]>;
export type ResponseOf<Name extends RpcName> = Parameters<(typeof RPCS)[Name]["responseSerialize"]>[0];

/** An rpc of the AdminService or of the SessionService. The contract has its messages. */
type OperatorRpc<Name extends RpcName, Input, Of extends Organization | undefined> = Omit<
  UnaryRpc<RequestOf<Name>, Input, ResponseOf<Name>, Of>,
  "request" | "response"
>;

/** An rpc of operators about one organization, which the metadata names. */
export type OrganizationRpc<Name extends RpcName, Input> = OperatorRpc<Name, Input, Organization>;

export function organizationRpc<Name extends RpcName, Input>(
  name: Name,
  rpc: OrganizationRpc<Name, Input>,
): UnaryRoute {
  return unary({ ...messagesOf(name), ...rpc });
}

/** Makes such an rpc that takes a file. */
export function organizationUpload<Name extends RpcName, Input>(
  name: Name,
  rpc: Omit<UploadRpc<RequestOf<Name>, Input, ResponseOf<Name>, Organization>, "request" | "response">,
): UploadRoute {
  return upload({ ...messagesOf(name), ...rpc });
}

/** Makes an rpc of operators about no organization. */
export function houseRpc<Name extends RpcName, Input>(
  name: Name,
  rpc: OperatorRpc<Name, Input, undefined>,
): UnaryRoute {
  return unary({ ...messagesOf(name), ...rpc, isOfHouse: true });
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
