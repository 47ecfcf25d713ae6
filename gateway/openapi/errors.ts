import { type DescMethod, getOption, type JsonObject, type JsonValue } from "@bufbuild/protobuf";

import { commentOf, lineOf } from "../../contract/comments.js";
import { extensionOf, type HttpContract, type Route } from "../../contract/contract.js";
import { errorPathOf, titleOf } from "../problems/problem.js";
import { errorReasonOf, type Reason, reasonsOf } from "../problems/reasons.js";
import { exampleNamed } from "./examples.js";
import { groupBy } from "./group-by.js";
import { ITEM_PROBLEM_NAME, ref } from "./schema.js";

const REQUEST_ID = "01jd2r6p5vf8ksw3xhb1z7q4ye";

/** The reasons of calls, by what is true of their routes. */
const OF_EVERY_CALL = [
  "INVALID_FIELD",
  "MALFORMED_REQUEST",
  "REQUEST_TOO_LARGE",
  "NOT_ACCEPTABLE",
  "QUEUE_FULL",
  "INTERNAL",
];
const OF_ITS_WAY = [
  "STORAGE_UNAVAILABLE",
  "SHUTTING_DOWN",
  "SERVER_UNREACHABLE",
  "DEADLINE_EXCEEDED",
  "OUTCOME_UNKNOWN",
];
// A key whose organization has moved away gets BOOK_MOVING for reads, too.
const OF_A_KEY = [
  "MISSING_API_KEY",
  "INVALID_API_KEY",
  "SCOPE_REQUIRED",
  "RATE_LIMITED",
  "BOOK_MOVING",
  "RESTORE_NOT_CONFIRMED",
];
const OF_A_WRITE = ["ORGANIZATION_SUSPENDED", "CLOCK_BEHIND", "ROW_CHANGED"];
const OF_A_BODY = ["BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "MALFORMED_BODY"];
const OF_A_STREAM = ["TOO_MANY_STREAMS"];
const OF_A_STREAM_THAT_ENDS = ["HTTP_VERSION_TOO_OLD"];
/** What HTTP itself refuses, whatever the path. */
const OF_HTTP = ["EXPECTATION_FAILED", "HEADERS_TOO_LARGE", "REQUEST_TIMEOUT"];

/** The reasons that come from a kind of route, and those of them that nearly every route has. */
const USUAL: ReadonlySet<string> = new Set([...OF_EVERY_CALL, ...OF_ITS_WAY, ...OF_A_KEY]);
const SHARED: ReadonlySet<string> = new Set([
  ...USUAL,
  ...OF_A_WRITE,
  ...OF_A_BODY,
  ...OF_A_STREAM,
  ...OF_A_STREAM_THAT_ENDS,
  ...OF_HTTP,
]);

const REASON = /\b[A-Z]+(?:_[A-Z]+)+\b/g;

/** The facts of the examples, where a field of that name has no example or another one. */
const FACTS: Readonly<Record<string, JsonValue>> = {
  resource_id: "acc_01jd2r6p5vf8ksw3xhb1z7q4ye",
  reversed_by_transaction_id: "txn_01jd2r6p5vf8ksw3xhb1z7q500",
  destination_kind: "till",
  differing_fields: ["amount"],
  available: 10,
  held: 0,
  requested: 250,
  limit: 20,
  max_amount: 20,
  used: 15,
  remaining: 5,
  resets_at: "2026-11-20T21:00:00.000Z",
  transaction_status: "completed",
  from: "completed",
  to: "canceled",
  scope: "accounts:write",
  cause: "not_completed",
  min: 10,
  max: 250000,
  step: 1,
  nearest_below: 1000,
  nearest_above: 1001,
  until: "2026-11-20T12:00:00.000Z",
  rail_receipt: "RKTQDM7W6S",
  rail: "mpesa",
  behind_seconds: 75,
  bytes_max: 262144,
  rate: "calls",
  calls_per_second: 1000,
  streams_max: 2,
  size: 100,
  sealed_size: 41,
};

/** The problems of a contract, as schemas and examples, and which of them an operation has. */
export class Problems {
  readonly schemas = new Map<string, JsonObject>();
  readonly examples = new Map<string, JsonObject>();
  readonly responses = new Map<string, JsonObject>();
  readonly #reasons: ReadonlyMap<string, Reason>;
  readonly #numberFacts: readonly string[];
  readonly #listFacts: readonly string[];

  constructor({ registry }: HttpContract) {
    const desc = errorReasonOf(registry);
    this.#numberFacts = getOption(desc, extensionOf(registry, "kesc.v1.number_facts")) as readonly string[];
    this.#listFacts = getOption(desc, extensionOf(registry, "kesc.v1.list_facts")) as readonly string[];
    this.#reasons = new Map(reasonsOf(registry).map((reason) => [reason.code, ofRest(reason)]));
    this.schemas.set("Problem", PROBLEM);
    this.schemas.set(ITEM_PROBLEM_NAME, ITEM);
    this.schemas.set("FieldProblem", fieldProblem(registry));
  }

  /** The reasons for which the operation of these routes can be refused, sorted by status. */
  reasonsOf(routes: readonly [Route, ...Route[]], methods: readonly DescMethod[]): readonly Reason[] {
    const [{ method, body }] = routes;
    const streams = routes.flatMap(({ stream }) => stream ?? []);
    const codes = new Set([
      ...OF_EVERY_CALL,
      ...OF_ITS_WAY,
      ...OF_A_KEY,
      ...(method === "GET" ? [] : OF_A_WRITE),
      ...(body.kind === "none" ? [] : OF_A_BODY),
      ...(streams.length === 0 ? [] : OF_A_STREAM),
      ...(streams.some(({ resumption }) => resumption === undefined) ? OF_A_STREAM_THAT_ENDS : []),
      ...methods.flatMap(refusalsIn),
    ]);
    return [...this.#reasons.values()]
      .filter(({ code }) => codes.has(code))
      .sort((left, right) => left.httpStatus - right.httpStatus);
  }

  /** The responses of an operation with these reasons, by status, and that of HTTP itself. */
  responsesFor(reasons: readonly Reason[]): JsonObject {
    const byStatus = groupBy(reasons, ({ httpStatus }) => String(httpStatus));
    const ofHttp = OF_HTTP.flatMap((code) => this.#reasons.get(code) ?? []);
    return {
      ...Object.fromEntries([...byStatus].map(([status, group]) => [status, this.#response(status, group)])),
      default: this.#response("OfHttp", ofHttp),
    };
  }

  /** The example of a problem. */
  exampleOf({ code, httpStatus, meaning, facts }: Reason): JsonObject {
    const known = facts.flatMap((name) => (name === "request_id" ? [] : [[name, this.#factExample(name)]]));
    const isOfFields = code === "INVALID_FIELD";
    return {
      type: errorPathOf(code),
      title: titleOf(code),
      status: httpStatus,
      detail: isOfFields ? "Invalid request: amount must be more than zero." : `${sentence(meaning)}.`,
      code,
      request_id: REQUEST_ID,
      ...(Object.fromEntries(known) as JsonObject),
      ...(isOfFields ? { errors: [{ field: "amount", code: "OUT_OF_RANGE", message: "must be more than zero" }] } : {}),
    };
  }

  /** The example of the refusal of one item of a batch. */
  get itemExample(): JsonObject {
    const reason = this.#reasons.get("INSUFFICIENT_FUNDS") ?? [...this.#reasons.values()][0];
    const members = Object.entries(reason === undefined ? {} : this.exampleOf(reason));
    return Object.fromEntries(members.filter(([name]) => name !== "request_id"));
  }

  /**
   * Returns a reference to a response that many operations have: its reasons come from no comment
   * of an rpc. Any other response is returned whole.
   */
  #response(status: string, reasons: readonly Reason[]): JsonObject {
    if (reasons.some(({ code }) => !SHARED.has(code))) return this.#inline(reasons);
    const rare = reasons.filter(({ code }) => !USUAL.has(code) && !OF_HTTP.includes(code));
    const name = `Problem${status}${rare.map(({ code }) => camelCase(code)).join("")}`;
    if (!this.responses.has(name)) this.responses.set(name, this.#inline(reasons));
    return { $ref: `#/components/responses/${name}` };
  }

  #inline(reasons: readonly Reason[]): JsonObject {
    const refs = reasons.map((reason) => ref(this.#schemaOf(reason)));
    const [first, second] = refs;
    const examples = reasons.map(({ code }): [string, JsonValue] => [code, { $ref: `#/components/examples/${code}` }]);
    return {
      description: reasons.map(({ code, meaning }) => `- \`${code}\`: ${meaning}.`).join("\n"),
      headers: headersOf(reasons),
      content: {
        "application/problem+json": {
          schema: first !== undefined && second === undefined ? first : { oneOf: refs, discriminator: byCode(reasons) },
          examples: Object.fromEntries(examples),
        },
      },
    };
  }

  /** Returns the name of the schema of a reason. Makes the schema and the example at first use. */
  #schemaOf(reason: Reason): string {
    const name = schemaName(reason);
    const { code, httpStatus, meaning, remedy, facts } = reason;
    if (this.schemas.has(name)) return name;
    const own = facts.filter((fact) => fact !== "request_id").map((fact) => [fact, this.#factSchema(fact)]);
    const isOfFields = code === "INVALID_FIELD";
    this.schemas.set(name, {
      description: `${sentence(meaning)}. What to do: ${remedy}.`,
      allOf: [ref("Problem")],
      type: "object",
      properties: {
        code: { type: "string", const: code },
        status: { type: "integer", format: "int32", const: httpStatus },
        ...(Object.fromEntries(own) as JsonObject),
        ...(isOfFields ? { errors: { type: "array", items: ref("FieldProblem"), minItems: 1, maxItems: 100 } } : {}),
      },
      required: ["code", "status", ...(isOfFields ? ["errors"] : [])],
    });
    this.examples.set(code, { summary: titleOf(code), value: this.exampleOf(reason) });
    return name;
  }

  #factExample(name: string): JsonValue {
    return FACTS[name] ?? exampleNamed(name) ?? (this.#numberFacts.includes(name) ? 1 : null);
  }

  #factSchema(name: string): JsonObject {
    if (this.#listFacts.includes(name)) return { type: "array", items: { type: "string" } };
    return this.#numberFacts.includes(name) ? { type: "number", format: "double" } : { type: "string" };
  }
}

/** The reasons that the comments of an rpc and of its service name as refusals. */
function refusalsIn(method: DescMethod): readonly string[] {
  const [, refuses = ""] = /Refuses([^]*)/.exec(commentOf(method)) ?? [];
  const [, first = ""] = /Every rpc first checks for ([^.]*)/.exec(commentOf(method.parent)) ?? [];
  return [...refuses.matchAll(REASON), ...first.matchAll(REASON)].map(([code]) => code);
}

/** Says by which member a program tells the schemas of a response apart. */
function byCode(reasons: readonly Reason[]): JsonObject {
  const mapping = reasons.map((reason) => [reason.code, `#/components/schemas/${schemaName(reason)}`]);
  return { propertyName: "code", mapping: Object.fromEntries(mapping) as JsonObject };
}

function schemaName({ code }: Reason): string {
  return `${camelCase(code)}Problem`;
}

function camelCase(code: string): string {
  return code.toLowerCase().split("_").map(sentence).join("");
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The headers of each response to a call with a valid key. */
export const RATE_LIMIT_HEADERS: JsonObject = {
  RateLimit: { $ref: "#/components/headers/RateLimit" },
  "RateLimit-Policy": { $ref: "#/components/headers/RateLimitPolicy" },
};

/** Says the reason in the words of REST, where the contract has those of gRPC. */
function ofRest(reason: Reason): Reason {
  const meaning = reason.meaning
    .replace("google.rpc.RetryInfo", "Retry-After")
    .replace("google.rpc.BadRequest", "`errors`");
  return { ...reason, meaning, remedy: reason.remedy.replace(/ \((?:RetryInfo|BadRequest)\)/, "") };
}

/** The comment of a reason of the contract says whether its refusals say when to retry. */
function saysWhenToRetry({ httpStatus, meaning }: Reason): boolean {
  return httpStatus === 429 || httpStatus === 503 || meaning.includes("Retry-After");
}

function headersOf(reasons: readonly Reason[]): JsonObject {
  const statuses = new Set(reasons.map(({ httpStatus }) => httpStatus));
  return {
    "X-Request-Id": { $ref: "#/components/headers/RequestId" },
    ...RATE_LIMIT_HEADERS,
    ...(reasons.some(saysWhenToRetry) ? { "Retry-After": { $ref: "#/components/headers/RetryAfter" } } : {}),
    ...(statuses.has(401) ? { "WWW-Authenticate": { $ref: "#/components/headers/WwwAuthenticate" } } : {}),
  };
}

const MEMBERS: JsonObject = {
  type: { type: "string", format: "uri-reference", description: "The path of a page about the reason." },
  title: { type: "string", description: "The reason in words." },
  status: { type: "integer", format: "int32", description: "The HTTP status." },
  detail: { type: "string", description: "What happened, for people." },
  code: { type: "string", description: "The reason, for programs." },
};
const REQUIRED_MEMBERS = ["type", "title", "status", "detail", "code"];

const PROBLEM: JsonObject = {
  type: "object",
  description: "A refusal (RFC 9457). Its `code` says which further members it can have. Later versions may add some.",
  properties: {
    ...MEMBERS,
    request_id: { type: "string", description: "The id under which both programs have logged the request." },
  },
  required: [...REQUIRED_MEMBERS, "request_id"],
};

const ITEM: JsonObject = {
  type: "object",
  description: "The refusal of one item of a batch: the members of the problem that a single call gets.",
  properties: {
    ...MEMBERS,
    request_id: { type: "string" },
    retry_after: { type: "integer", format: "int32", description: "In seconds, in place of the header Retry-After." },
    errors: { type: "array", items: { $ref: "#/components/schemas/FieldProblem" } },
  },
  required: REQUIRED_MEMBERS,
};

function fieldProblem(registry: HttpContract["registry"]): JsonObject {
  const values = registry.getEnum("kesc.v1.FieldReason")?.values.filter(({ number }) => number !== 0) ?? [];
  const codes = values.map((value) => ({
    code: value.name.slice("FIELD_REASON_".length),
    text: lineOf(value),
  }));
  return {
    type: "object",
    description: "What is wrong with one field.",
    properties: {
      field: { type: "string", description: "The field, the parameter or the header, as the client wrote it." },
      code: {
        type: "string",
        description: codes.map(({ code, text }) => `- \`${code}\`: ${text}`).join("\n"),
        "x-extensible-enum": codes.map(({ code }) => code),
      },
      message: { type: "string", description: "Continues a sentence that begins with the field." },
    },
    required: ["field", "code", "message"],
  };
}
