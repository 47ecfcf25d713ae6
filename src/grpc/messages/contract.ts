import { readFileSync } from "node:fs";

import {
  createFileRegistry,
  type DescMessage,
  type DescMethod,
  type FileRegistry,
  fromBinary,
  getOption,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";

import { packageFile } from "../../../runtime/files/package-file.js";
import { parseScope, type Scope } from "../../domain/api-key.js";
import { parsed } from "../../domain/values/parsed.js";
import { parseRoles, type Role, ROLES } from "../../operators/operator.js";

/**
 * What an rpc does with an idempotency key. An rpc that writes and takes none refuses it, so that
 * no caller relies on a key without effect. "items": each item of the request has a key of its own.
 */
export type IdempotencyKeyUse = "taken" | "items" | "refused" | "ignored";

/** The definition of one rpc in the contract. */
export interface RpcContract {
  /** The name on the wire: "/kesc.v1.TransactionService/Mint". */
  readonly path: string;
  /** The name in the log: "TransactionService/Mint". */
  readonly name: string;
  /** The name among the handlers: "mint". */
  readonly localName: string;
  /** Whether anybody may call the rpc, without an API key. */
  readonly isPublic: boolean;
  /** Undefined if the rpc is public, or if every valid key may call it. */
  readonly requiredScope: Scope | undefined;
  /** The roles of operators that may call it. Empty if public, or where organizations call. */
  readonly requiredRoles: readonly Role[];
  /** Whether a session must be fresh to call it. */
  readonly needsFresh: boolean;
  /** Whether a call is no use of its session. */
  readonly isBackground: boolean;
  /** The type of the request. */
  readonly input: DescMessage;
  /** Whether the larger limit for requests applies. */
  readonly bulk: boolean;
  /** What the rpc does with an idempotency key in its metadata. */
  readonly idempotencyKey: IdempotencyKeyUse;
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

/** The end of a scope that only reads. */
const READS = ":read";
const PACKAGE = "kesc.v1";
const OPERATORS_PACKAGE = "kesc.admin.v1";
const REQUIRED_SCOPE = "kesc.v1.required_scope";
const ANY_KEY = "kesc.v1.any_key";
const PUBLIC = "kesc.v1.public";
const BULK = "kesc.v1.bulk";
const READS_MANY = "kesc.v1.reads_many";
const TAKES_IDEMPOTENCY_KEY = "kesc.v1.takes_idempotency_key";
const REQUIRED_ROLES = "kesc.admin.v1.required_roles";
const FRESH = "kesc.admin.v1.fresh";
const BACKGROUND = "kesc.admin.v1.background";

const DESCRIPTOR_SET = packageFile("dist/proto/kesc.binpb");
const OPERATORS_DESCRIPTOR_SET = packageFile("dist/proto/kesc-admin.binpb");

const STREAMS: Readonly<Record<DescMethod["methodKind"], RpcContract["streams"] | undefined>> = {
  unary: "none",
  bidi_streaming: "both",
  server_streaming: "server",
  client_streaming: undefined,
};

let contract: Contract | undefined;

/**
 * Reads the contract from a descriptor set, or once in a process from that of the package. Throws
 * if an rpc has no valid scope and is not for any key or public, or if only its client streams.
 */
export function readContract(descriptorSet?: Uint8Array): Contract {
  if (descriptorSet !== undefined) return contractIn(descriptorSet, PACKAGE, scopesOf);
  return (contract ??= contractIn(readFileSync(DESCRIPTOR_SET), PACKAGE, scopesOf));
}

let operatorsContract: Contract | undefined;

/**
 * Reads the contract of operators, once in a process. Throws if an rpc has no role and is not
 * public, or if only its client streams.
 */
export function readOperatorsContract(): Contract {
  return (operatorsContract ??= contractIn(readFileSync(OPERATORS_DESCRIPTOR_SET), OPERATORS_PACKAGE, rolesOf));
}

/** What one address serves. */
export type ServedContract = Pick<Contract, "services" | "descriptorSet">;

/**
 * Returns what the operators' address serves: the AdminService, and each unary rpc of an
 * organization whose scope only reads. Every role may call those. The descriptors have the other
 * rpcs of their services, too, and nothing there serves them.
 */
export function readOperatorsAddress(): ServedContract {
  const [own, ofOrganizations] = [readOperatorsContract(), readContract()];
  const reading = ofOrganizations.services.flatMap(({ name, rpcs }): readonly ServiceContract[] => {
    const reads = rpcs.filter(isRead).map((rpc) => ({ ...rpc, requiredRoles: ROLES }));
    return reads.length === 0 ? [] : [{ name, rpcs: reads }];
  });
  return {
    services: [...own.services, ...reading],
    // Descriptor sets joined are a descriptor set. A file in both is the same file.
    descriptorSet: Buffer.concat([own.descriptorSet, ofOrganizations.descriptorSet]),
  };
}

function isRead({ streams, requiredScope }: RpcContract): boolean {
  return streams === "none" && requiredScope?.endsWith(READS) === true;
}

type Rights = Pick<RpcContract, "isPublic" | "requiredScope" | "requiredRoles" | "idempotencyKey">;
type RightsOf = (rpc: string, optionOf: OptionOf, method: DescMethod) => Rights;
/** Returns the value of an option of an rpc. */
type OptionOf = (option: string) => unknown;

function contractIn(descriptorSet: Uint8Array, packageName: string, rightsOf: RightsOf): Contract {
  const files = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet));
  const services = [...files.files]
    .filter((file) => file.proto.package === packageName)
    .flatMap((file) => file.services)
    .map((service) => ({
      name: service.typeName,
      rpcs: service.methods.map((method) => rpcContract(files, method, rightsOf)),
    }));
  if (services.length === 0) throw new Error(`the descriptor set has no service of ${packageName}`);
  return { services, files, descriptorSet };
}

function scopesOf(rpc: string, optionOf: OptionOf): Rights {
  const value = optionOf(REQUIRED_SCOPE);
  const text = typeof value === "string" ? value : "";
  const isPublic = optionOf(PUBLIC) === true;
  const scope = (isPublic || optionOf(ANY_KEY) === true) && text === "" ? undefined : parseScope(text);
  if (scope?.ok === false) throw new Error(`${rpc}: the option ${REQUIRED_SCOPE} ${scope.problem}`);
  const idempotencyKey = idempotencyKeyUse(scope?.value, optionOf);
  return { isPublic, requiredScope: scope?.value, requiredRoles: [], idempotencyKey };
}

function idempotencyKeyUse(scope: Scope | undefined, optionOf: OptionOf): IdempotencyKeyUse {
  if (optionOf(TAKES_IDEMPOTENCY_KEY) === true) return "taken";
  if (optionOf(BULK) === true) return "items";
  return scope === undefined || scope.endsWith(READS) ? "ignored" : "refused";
}

function rolesOf(rpc: string, optionOf: OptionOf, { idempotency }: Pick<DescMethod, "idempotency">): Rights {
  const isPublic = optionOf(PUBLIC) === true;
  const words = optionOf(REQUIRED_ROLES) as readonly string[];
  const roles = isPublic && words.length === 0 ? parsed([]) : parseRoles(words);
  if (!roles.ok) throw new Error(`${rpc}: the option ${REQUIRED_ROLES} ${roles.problem}`);
  const reads = idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  const idempotencyKey = optionOf(TAKES_IDEMPOTENCY_KEY) === true ? "taken" : reads ? "ignored" : "refused";
  return { isPublic, requiredScope: undefined, requiredRoles: roles.value, idempotencyKey };
}

function rpcContract(files: FileRegistry, method: DescMethod, rightsOf: RightsOf): RpcContract {
  const { parent, name, localName } = method;
  const optionOf: OptionOf = (option) => {
    const extension = files.getExtension(option);
    return extension === undefined ? undefined : getOption(method, extension);
  };
  const streams = STREAMS[method.methodKind];
  if (streams === undefined) throw new Error(`${parent.typeName}.${name}: only its client streams`);
  return {
    path: `/${parent.typeName}/${name}`,
    name: `${parent.name}/${name}`,
    localName,
    ...rightsOf(`${parent.typeName}.${name}`, optionOf, method),
    input: method.input,
    bulk: optionOf(BULK) === true,
    readsMany: optionOf(READS_MANY) === true,
    needsFresh: optionOf(FRESH) === true,
    isBackground: optionOf(BACKGROUND) === true,
    streams,
  };
}
