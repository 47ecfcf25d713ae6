import { readFileSync } from "node:fs";

import { type DescField, type DescMessage, type DescMethod, type FileRegistry, getOption } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";

import { readRegistry } from "../../../runtime/descriptor-files.js";
import { packageFile } from "../../../runtime/files/package-file.js";
import { parseScope, type Scope } from "../../domain/api-key.js";
import { parseRoles, type Role, ROLES } from "../../domain/operator.js";
import { parsed } from "../../domain/values/parsed.js";

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
  /** The roles of operators that may call it. Empty if it is public, or not for operators. */
  readonly requiredRoles: readonly Role[];
  /** Whether an operator must name the organization for which the rpc is called. */
  readonly isOfOrganization: boolean;
  /** The fields of words that an operator must give, and an organization may leave out. */
  readonly operatorsGive: readonly string[];
  /** The fields that an operator must leave out. */
  readonly organizationsOnly: readonly string[];
  /** Whether an operator's act may wait for a second person. */
  readonly secondPerson: boolean;
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
  /** Which sides stream. Only in rpcs of operators the client may stream alone: a file. */
  readonly streams: "none" | "both" | "server" | "client";
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
  /** `files` as a serialized google.protobuf.FileDescriptorSet. */
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
const OPERATOR_ROLES = "kesc.v1.operator_roles";
const ANY_ROLE = "kesc.v1.any_role";
const FRESH = "kesc.v1.fresh";
const SECOND_PERSON = "kesc.v1.second_person";
const OPERATORS_GIVE = "kesc.v1.operators_give";
const ORGANIZATIONS_ONLY = "kesc.v1.organizations_only";
const BACKGROUND = "kesc.v1.background";
const OF_ORGANIZATION = "kesc.v1.of_organization";

const DESCRIPTOR_SET = packageFile("dist/proto/kesc.binpb");
const OPERATORS_DESCRIPTOR_SET = packageFile("dist/proto/kesc-admin.binpb");

const STREAMS: Readonly<Record<DescMethod["methodKind"], RpcContract["streams"]>> = {
  unary: "none",
  bidi_streaming: "both",
  server_streaming: "server",
  client_streaming: "client",
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
 * public.
 */
export function readOperatorsContract(): Contract {
  return (operatorsContract ??= contractIn(readFileSync(OPERATORS_DESCRIPTOR_SET), OPERATORS_PACKAGE, rolesOf));
}

/** What one address serves. */
export type ServedContract = Pick<Contract, "services" | "descriptorSet">;

/**
 * Returns what the operators' address serves: the AdminService, and of an organization's unary rpcs
 * those whose scope only reads, which every role may call, and those that name roles. The
 * descriptors have the other rpcs of their services, too, and nothing there serves them.
 */
export function readOperatorsAddress(): ServedContract {
  const [own, ofOrganizations] = [readOperatorsContract(), readContract()];
  const shared = ofOrganizations.services.flatMap(({ name, rpcs }): readonly ServiceContract[] => {
    const open = rpcs.map((rpc) => (isRead(rpc) ? { ...rpc, requiredRoles: ROLES } : rpc));
    const served = open.filter(({ requiredRoles }) => requiredRoles.length > 0);
    return served.length === 0 ? [] : [{ name, rpcs: served }];
  });
  return {
    services: [...own.services, ...shared],
    // Descriptor sets joined are a descriptor set. A file in both is the same file.
    descriptorSet: Buffer.concat([own.descriptorSet, ofOrganizations.descriptorSet]),
  };
}

/** Read once: to parse the contract takes longer than to list a thousand proposals. */
let rolesByName: ReadonlyMap<string, readonly Role[]> | undefined;

/** Returns the roles of the rpc that has the name of the command. */
export function rolesOfCommand(commandName: string): readonly Role[] {
  rolesByName ??= new Map(
    readOperatorsAddress().services.flatMap(({ rpcs }) =>
      rpcs.map(({ localName, requiredRoles }) => [localName, requiredRoles] as const),
    ),
  );
  return rolesByName.get(commandName) ?? [];
}

/** Whether an rpc of an organization is unary and only reads. */
export function isRead({ streams, requiredScope }: RpcContract): boolean {
  return streams === "none" && requiredScope?.endsWith(READS) === true;
}

type Rights = Pick<RpcContract, "isPublic" | "requiredScope" | "requiredRoles" | "idempotencyKey">;
type RightsOf = (rpc: string, optionOf: OptionOf, method: DescMethod) => Rights;
/** Returns the value of an option of an rpc. */
type OptionOf = (option: string) => unknown;

function contractIn(descriptorSet: Uint8Array, packageName: string, rightsOf: RightsOf): Contract {
  const files = readRegistry([descriptorSet]);
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
  const roles = rolesIn(rpc, optionOf);
  const idempotencyKey = idempotencyKeyUse(scope?.value, optionOf);
  return { isPublic, requiredScope: scope?.value, requiredRoles: roles, idempotencyKey };
}

function idempotencyKeyUse(scope: Scope | undefined, optionOf: OptionOf): IdempotencyKeyUse {
  if (optionOf(TAKES_IDEMPOTENCY_KEY) === true) return "taken";
  if (optionOf(BULK) === true) return "items";
  return scope === undefined || scope.endsWith(READS) ? "ignored" : "refused";
}

function rolesOf(rpc: string, optionOf: OptionOf, { idempotency }: Pick<DescMethod, "idempotency">): Rights {
  const isPublic = optionOf(PUBLIC) === true;
  const roles = rolesIn(rpc, optionOf);
  if (roles.length === 0 && !isPublic) throw new Error(`${rpc}: the option ${OPERATOR_ROLES} is required`);
  const reads = idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  const idempotencyKey = optionOf(TAKES_IDEMPOTENCY_KEY) === true ? "taken" : reads ? "ignored" : "refused";
  return { isPublic, requiredScope: undefined, requiredRoles: roles, idempotencyKey };
}

function rolesIn(rpc: string, optionOf: OptionOf): readonly Role[] {
  if (optionOf(ANY_ROLE) === true) return ROLES;
  const words = optionOf(OPERATOR_ROLES) as readonly string[];
  const roles = words.length === 0 ? parsed([]) : parseRoles(words);
  if (!roles.ok) throw new Error(`${rpc}: the option ${OPERATOR_ROLES} ${roles.problem}`);
  return roles.value;
}

function rpcContract(files: FileRegistry, method: DescMethod, rightsOf: RightsOf): RpcContract {
  const { parent, name, localName } = method;
  const optionOf: OptionOf = (option) => valueOf(files, method, option);
  const fieldsWith = (option: string): readonly string[] =>
    method.input.fields.filter((field) => valueOf(files, field, option) === true).map((field) => field.name);
  const streams = STREAMS[method.methodKind];
  const ofOrganizations = parent.file.proto.package === PACKAGE;
  if (streams === "client" && ofOrganizations) throw new Error(`${parent.typeName}.${name}: only its client streams`);
  return {
    path: `/${parent.typeName}/${name}`,
    name: `${parent.name}/${name}`,
    localName,
    ...rightsOf(`${parent.typeName}.${name}`, optionOf, method),
    isOfOrganization: optionOf(OF_ORGANIZATION) === true || (ofOrganizations && optionOf(PUBLIC) !== true),
    operatorsGive: fieldsWith(OPERATORS_GIVE),
    organizationsOnly: fieldsWith(ORGANIZATIONS_ONLY),
    input: method.input,
    bulk: optionOf(BULK) === true,
    readsMany: optionOf(READS_MANY) === true,
    secondPerson: optionOf(SECOND_PERSON) === true,
    needsFresh: optionOf(FRESH) === true,
    isBackground: optionOf(BACKGROUND) === true,
    streams,
  };
}

function valueOf(files: FileRegistry, of: DescMethod | DescField, option: string): unknown {
  const extension = files.getExtension(option);
  return extension === undefined ? undefined : getOption(of, extension);
}
