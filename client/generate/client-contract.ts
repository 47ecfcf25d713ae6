import type { DescEnum, DescField, DescMessage, DescMethod, DescService } from "@bufbuild/protobuf";
import { getOption } from "@bufbuild/protobuf";

import { extensionOf, type HttpContract, messageOf } from "../../contract/contract.js";
import { RPC_STATUS, TIMESTAMP } from "../../contract/json-support.js";

const PACKAGE = "kesc.v1";
/** What the client itself reads: times, and the details of a refusal. */
const OWN_MESSAGES = [
  TIMESTAMP,
  RPC_STATUS,
  ...["ErrorInfo", "BadRequest", "RetryInfo"].map((name) => `google.rpc.${name}`),
];
/** google.api.FieldBehavior.REQUIRED. */
const REQUIRED = 2;

/** How the client calls an rpc. */
export interface ClientRpc {
  readonly method: DescMethod;
  readonly shape: "unary" | "paged" | "watch" | "export" | "import";
  /** The list in the response whose items an iteration yields. */
  readonly items: DescField | undefined;
  /** The list in the request that the caller gives item by item. */
  readonly given: DescField | undefined;
  /** The field of the request that says after which item the stream begins. */
  readonly after: string | undefined;
  /** Whether the rpc changes something. */
  readonly writes: boolean;
  readonly takesKey: boolean;
}

/** What of the contract a caller meets. */
export interface ClientContract {
  readonly services: ReadonlyMap<DescService, readonly ClientRpc[]>;
  readonly requests: ReadonlySet<DescMessage>;
  readonly responses: ReadonlySet<DescMessage>;
  /** The messages that only the code of the client reads. */
  readonly details: ReadonlySet<DescMessage>;
  readonly enums: ReadonlySet<DescEnum>;
  readonly isRequired: (field: DescField) => boolean;
}

/** Leaves out the rpcs that anybody may call: they are for rails. */
export function clientContractOf(contract: HttpContract): ClientContract {
  const { registry } = contract;
  const [isPublic, behavior] = [
    extensionOf(registry, `${PACKAGE}.public`),
    extensionOf(registry, "google.api.field_behavior"),
  ];
  const services = new Map<DescService, ClientRpc[]>();
  for (const desc of registry) {
    if (desc.kind !== "service" || !desc.typeName.startsWith(`${PACKAGE}.`)) continue;
    const methods = desc.methods.filter((method) => getOption(method, isPublic) !== true);
    const rpcs = methods.map((method) => clientRpcOf(contract, method));
    if (rpcs.length > 0) services.set(desc, rpcs);
  }
  const methods = [...services.values()].flat().map(({ method }) => method);
  const requests = reachableFrom(methods.map(({ input }) => input));
  const responses = reachableFrom(methods.map(({ output }) => output));
  for (const desc of requests) {
    // Their types differ: a request takes a Date, and a response has values that are not known yet.
    if (responses.has(desc)) throw new Error(`${desc.typeName} is in requests and in responses`);
  }
  const messages = [...requests, ...responses];
  return {
    services,
    requests,
    responses,
    details: reachableFrom(OWN_MESSAGES.map((name) => messageOf(registry, name))),
    enums: new Set(messages.flatMap(({ fields }) => fields.flatMap((field) => field.enum ?? []))),
    isRequired: (field) => (getOption(field, behavior) as readonly number[]).includes(REQUIRED),
  };
}

function clientRpcOf({ registry, routes }: HttpContract, method: DescMethod): ClientRpc {
  const path = `/${method.parent.typeName}/${method.name}`;
  const takesKey = registry.getExtension(`${PACKAGE}.takes_idempotency_key`);
  const after = getOption(method, extensionOf(registry, `${PACKAGE}.resumes_by`)) as string;
  const has = (desc: DescMessage, name: string): boolean => desc.fields.some((field) => field.name === name);
  const isPaged = has(method.input, "page_token") && has(method.output, "next_page_token");
  const kind = method.methodKind;
  const shape = kind === "bidi_streaming" ? "import" : kind === "unary" ? "unary" : after === "" ? "export" : "watch";
  const writes = !routes.some(({ rpc, method: verb }) => rpc.path === path && verb === "GET");
  return {
    method,
    shape: shape === "unary" && isPaged ? "paged" : shape,
    items: shape === "unary" && !isPaged ? undefined : listIn(method.output),
    given: shape === "import" ? listIn(method.input) : undefined,
    after: shape === "watch" ? after : undefined,
    writes,
    takesKey: takesKey === undefined ? writes : getOption(method, takesKey) === true,
  };
}

/** Throws unless the message has one list of messages: an iteration yields its items. */
function listIn({ typeName, fields }: DescMessage): DescField {
  const [list, ...others] = fields.filter(({ fieldKind, message }) => fieldKind === "list" && message !== undefined);
  if (list === undefined || others.length > 0) throw new Error(`${typeName} must have one list of messages`);
  return list;
}

/** The messages, and those in their fields, but for those that have a form of their own. */
function reachableFrom(roots: readonly DescMessage[]): Set<DescMessage> {
  const found = new Set(roots);
  for (const { fields } of found) {
    for (const { message } of fields) {
      if (message !== undefined && message.typeName !== TIMESTAMP && message.typeName !== RPC_STATUS) {
        found.add(message);
      }
    }
  }
  return found;
}
