import {
  create,
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescOneof,
  type Message,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { status } from "@grpc/grpc-js";

import { METADATA_OF_EACH } from "../http/headers.js";
import { valueOf } from "./field-value.js";
import { RPC_STATUS } from "./mappable.js";
import { type Batching, toRpc } from "./rpc.js";

/**
 * Finds out how calls of `method` are sent by the rpc of that name, from the messages of both: see
 * `batched_by` in the contract's options. Throws when they do not fit.
 */
export function batchingOf(method: DescMethod, name: string): Batching {
  const by = method.parent.methods.find((candidate) => candidate.name === name);
  if (by?.methodKind !== "unary") throw new Error(`has no unary rpc ${name} beside it`);
  const requests = onlyFieldOf(by.input, "list");
  const request = memberOf(requests.message, method.input.typeName);
  const own = METADATA_OF_EACH.map((metadataName) => fieldFor(metadataName, requests.message, method.input));
  const headerByField = new Map(own.map(({ name: field, metadataName }) => [field, metadataName]));
  const answer = onlyFieldOf(method.output, "message");
  const results = onlyFieldOf(by.output, "list");
  const resource = memberOf(results.message, answer.message.typeName);
  const error = memberOf(results.message, RPC_STATUS);
  const replayed = results.message.fields.find((field) => field.name === "replayed");
  if (replayed === undefined) throw new Error(`${results.message.typeName} has no field replayed`);

  return {
    by: toRpc(by),
    partOf: (bytes, metadata) => {
      const writer = new BinaryWriter()
        .tag(requests.number, WireType.LengthDelimited)
        .fork()
        .tag(request.number, WireType.LengthDelimited)
        .bytes(bytes);
      for (const { number, metadataName } of own) {
        for (const value of metadata.get(metadataName)) {
          writer.tag(number, WireType.LengthDelimited).string(String(value));
        }
      }
      return writer.join().finish();
    },
    sharedOf: (metadata) => {
      const shared = metadata.clone();
      for (const { metadataName } of own) shared.remove(metadataName);
      return shared;
    },
    outcomeAt: (index, message) => {
      const result = (valueOf(message, results) as Message[])[index];
      const outcome = result === undefined ? undefined : (valueOf(result, resource.oneof) as Chosen);
      if (result === undefined || outcome?.value === undefined) {
        throw new Error(`${name} has not answered the request ${String(index)}`);
      }
      if (outcome.case === resource.localName) {
        const whole = create(method.output, { [answer.localName]: outcome.value });
        return { ok: true, message: whole, replayed: valueOf(result, replayed) === true };
      }
      const { code, message: text } = outcome.value as Message & { readonly code: status; readonly message: string };
      return { ok: false, code, text, statusBytes: toBinary(error.message, outcome.value), headerByField };
    },
  };
}

/** What a oneof holds. */
interface Chosen {
  readonly case: string | undefined;
  readonly value?: Message;
}
type MessageField = DescField & { readonly message: DescMessage };
type MemberField = MessageField & { readonly oneof: DescOneof };
interface OwnField {
  readonly name: string;
  readonly number: number;
  readonly metadataName: string;
}

/** The field that is all that a message has: another message, or a list of messages. */
function onlyFieldOf({ typeName, fields }: DescMessage, kind: "message" | "list"): MessageField {
  const [field, ...others] = fields;
  if (field?.fieldKind !== kind || field.message === undefined || others.length > 0) {
    throw new Error(`${typeName} is not one ${kind === "list" ? "list of messages" : "message"}`);
  }
  return field;
}

/**
 * Returns the field of an item that carries the metadata of that name. Throws when the item has
 * none: the metadata would be lost. Throws when the request has a field of the same name: problems
 * with the two could not be told apart.
 */
function fieldFor(metadataName: string, { typeName, fields }: DescMessage, request: DescMessage): OwnField {
  const name = metadataName.replaceAll("-", "_");
  const field = fields.find((candidate) => candidate.name === name);
  if (field?.fieldKind !== "scalar" || field.scalar !== ScalarType.STRING) {
    throw new Error(`${typeName} has no text ${name}`);
  }
  if (request.fields.some((candidate) => candidate.name === name)) {
    throw new Error(`${request.typeName} must not have a field ${name}, which ${typeName} has`);
  }
  return { name, number: field.number, metadataName };
}

/** The member of a oneof that is of that type. */
function memberOf({ typeName, fields }: DescMessage, type: string): MemberField {
  const field = fields.find(({ message, oneof }) => message?.typeName === type && oneof !== undefined);
  if (field === undefined) throw new Error(`${typeName} has no oneof with ${type}`);
  return field as MemberField;
}
