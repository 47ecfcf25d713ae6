import { readFileSync } from "node:fs";

import {
  createFileRegistry,
  type DescMessage,
  type DescMethod,
  type FileRegistry,
  fromBinary,
  getOption,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

import { parseScope, type Scope } from "../../domain/api-key.js";

/** The definition of one rpc in the contract. */
export interface RpcContract {
  /** The name on the wire: "/kesc.v1.TransactionService/Mint". */
  readonly path: string;
  /** The name in the log: "TransactionService/Mint". */
  readonly name: string;
  /** The name among the handlers: "mint". */
  readonly localName: string;
  /** Undefined if anybody may call the rpc, without an API key. */
  readonly requiredScope: Scope | undefined;
  /** The type of the request. */
  readonly input: DescMessage;
  /** Whether the larger limit for requests applies. */
  readonly bulk: boolean;
  /** Whether the rpc reads many rows, as a list does. Such rpcs have a rate of their own. */
  readonly readsMany: boolean;
  /** Which sides stream: none, both, or only the server. */
  readonly streams: "none" | "both" | "server";
}

export interface ServiceContract {
  /** The name with the package: "kesc.v1.TransactionService". */
  readonly name: string;
  readonly rpcs: readonly RpcContract[];
}

export interface Contract {
  readonly services: readonly ServiceContract[];
  /** All files of the contract and of the services for health and reflection. */
  readonly files: FileRegistry;
  /** The same files, as a serialized google.protobuf.FileDescriptorSet. */
  readonly descriptorSet: Uint8Array;
}

const PACKAGE = "kesc.v1";
const REQUIRED_SCOPE = "kesc.v1.required_scope";
const PUBLIC = "kesc.v1.public";
const BULK = "kesc.v1.bulk";
const READS_MANY = "kesc.v1.reads_many";

// `npm run generate` creates the file. The build copies it to dist/, so the same relative path
// works there.
const DESCRIPTOR_SET = new URL("../../../proto/kesc.binpb", import.meta.url);

const STREAMS: Readonly<Record<DescMethod["methodKind"], RpcContract["streams"] | undefined>> = {
  unary: "none",
  bidi_streaming: "both",
  server_streaming: "server",
  client_streaming: undefined,
};

/**
 * Reads the contract from its descriptor set. Throws if an rpc is not public and has no valid
 * scope, or if only its client streams.
 */
export function readContract(descriptorSet: Uint8Array = readFileSync(DESCRIPTOR_SET)): Contract {
  const files = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet));
  const services = [...files.files]
    .filter((file) => file.proto.package === PACKAGE)
    .flatMap((file) => file.services)
    .map((service) => ({
      name: service.typeName,
      rpcs: service.methods.map((method) => rpcContract(files, method)),
    }));
  if (services.length === 0) throw new Error(`the descriptor set has no service of ${PACKAGE}`);
  return { services, files, descriptorSet };
}

function rpcContract(files: FileRegistry, method: DescMethod): RpcContract {
  const { parent, name, localName } = method;
  const optionOf = (option: string): unknown => {
    const extension = files.getExtension(option);
    return extension === undefined ? undefined : getOption(method, extension);
  };
  const value = optionOf(REQUIRED_SCOPE);
  const text = typeof value === "string" ? value : "";
  const scope = optionOf(PUBLIC) === true && text === "" ? undefined : parseScope(text);
  if (scope?.ok === false) throw new Error(`${parent.typeName}.${name}: the option ${REQUIRED_SCOPE} ${scope.problem}`);
  const streams = STREAMS[method.methodKind];
  if (streams === undefined) throw new Error(`${parent.typeName}.${name}: only its client streams`);
  return {
    path: `/${parent.typeName}/${name}`,
    name: `${parent.name}/${name}`,
    localName,
    requiredScope: scope?.value,
    input: method.input,
    bulk: optionOf(BULK) === true,
    readsMany: optionOf(READS_MANY) === true,
    streams,
  };
}
