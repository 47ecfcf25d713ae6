import {
  create,
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescOneof,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

import { ITEM_METADATA } from "./forwarded-metadata.js";
import { RPC_STATUS, valueOf } from "./json-support.js";
import { type Batching, type RpcStatus, toRpc } from "./rpc.js";

/**
 * Finds out from both rpcs' messages how calls of `method` become items of the rpc that the
 * contract's option `batched_by` names. Throws when the messages do not fit.
 */
export function batchingOf(method: DescMethod, batchRpcName: string): Batching {
  const batch = method.parent.methods.find(({ name }) => name === batchRpcName);
  if (batch?.methodKind !== "unary") throw new Error(`the service has no unary rpc ${batchRpcName}`);
  const items = onlyFieldOf(batch.input, "list");
  const request = memberOf(items.message, method.input.typeName);
  const itemFields = ITEM_METADATA.map((metadataName) => itemFieldFor(metadataName, items.message, method.input));
  const headerByField = new Map(itemFields.map(({ name, metadataName }) => [name, metadataName]));
  const resource = onlyFieldOf(method.output, "message");
  const results = onlyFieldOf(batch.output, "list");
  const success = memberOf(results.message, resource.message.typeName);
  // The oneof must have this member: resultAt takes any member but the resource for it.
  memberOf(results.message, RPC_STATUS);
  const replayed = results.message.fields.find((field) => field.name === "replayed");
  if (replayed === undefined) throw new Error(`${results.message.typeName} has no field replayed`);

  return {
    batchRpc: toRpc(batch),
    encodeItem: (bytes, metadata) => {
      const writer = new BinaryWriter()
        .tag(items.number, WireType.LengthDelimited)
        .fork()
        .tag(request.number, WireType.LengthDelimited)
        .bytes(bytes);
      for (const { number, metadataName } of itemFields) {
        for (const value of metadata.get(metadataName)) {
          writer.tag(number, WireType.LengthDelimited).string(String(value));
        }
      }
      return writer.join().finish();
    },
    batchMetadata: (metadata) => {
      const shared = metadata.clone();
      for (const { metadataName } of itemFields) shared.remove(metadataName);
      return shared;
    },
    resultAt: (index, response) => {
      const result = (valueOf(response, results) as Message[])[index];
      const outcome = result === undefined ? undefined : (valueOf(result, success.oneof) as OneofValue);
      if (result === undefined || outcome?.value === undefined) {
        throw new Error(`${batchRpcName} has no result for item ${String(index)}`);
      }
      if (outcome.case === success.localName) {
        const message = create(method.output, { [resource.localName]: outcome.value });
        return { ok: true, message, replayed: valueOf(result, replayed) === true };
      }
      return { ok: false, status: outcome.value as Message & RpcStatus, headerByField };
    },
  };
}

interface OneofValue {
  readonly case: string | undefined;
  readonly value?: Message;
}
type SubmessageField = DescField & { readonly message: DescMessage };
type MemberField = SubmessageField & { readonly oneof: DescOneof };
interface ItemField {
  readonly name: string;
  readonly number: number;
  readonly metadataName: string;
}

/**
 * Returns the only field of the message. Throws when there are others, or it is of another kind.
 */
function onlyFieldOf({ typeName, fields }: DescMessage, kind: "message" | "list"): SubmessageField {
  const [field, ...others] = fields;
  if (field?.fieldKind !== kind || field.message === undefined || others.length > 0) {
    throw new Error(`${typeName} must have one field, which holds ${kind === "list" ? "messages" : "a message"}`);
  }
  return field;
}

/**
 * Returns the field of an item that carries the metadata of that name. Throws when the item has
 * none: the metadata would be lost. Throws when the request has a field of the same name: problems
 * with the two could not be told apart.
 */
function itemFieldFor(metadataName: string, item: DescMessage, request: DescMessage): ItemField {
  const name = metadataName.replaceAll("-", "_");
  const field = item.fields.find((candidate) => candidate.name === name);
  if (field?.fieldKind !== "scalar" || field.scalar !== ScalarType.STRING) {
    throw new Error(`${item.typeName} has no string field ${name}`);
  }
  if (request.fields.some((candidate) => candidate.name === name)) {
    throw new Error(`${request.typeName} must not have a field ${name}, which ${item.typeName} has`);
  }
  return { name, number: field.number, metadataName };
}

/** Returns the member of a oneof that has that type. */
function memberOf({ typeName, fields }: DescMessage, type: string): MemberField {
  const field = fields.find(({ message, oneof }) => message?.typeName === type && oneof !== undefined);
  if (field === undefined) throw new Error(`${typeName} has no oneof with ${type}`);
  return field as MemberField;
}
