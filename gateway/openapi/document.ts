import { readFileSync } from "node:fs";

import type { DescService, JsonObject } from "@bufbuild/protobuf";

import { commentOf } from "../../contract/comments.js";
import type { HttpContract } from "../../contract/contract.js";
import { compareTemplates, shapeOf } from "../../contract/path-template.js";
import { packageFile } from "../../runtime/files/package-file.js";
import { Problems } from "./errors.js";
import { groupBy } from "./group-by.js";
import { methodOf, type OperationDependencies, operationOf, type OperationRoutes, tagOf } from "./operation.js";
import { Schemas } from "./schema.js";
import { webhooksOf } from "./webhooks.js";

/**
 * Writes the OpenAPI document of a contract, as `openapi.json` has it. It says of the REST API what
 * the gateway itself reads from the contract (ADR 46).
 */
export function openapiText(contract: HttpContract): string {
  // What needs no key is called by rails, and by no client.
  const routes = contract.routes.filter(({ isPublic }) => !isPublic);
  return `${JSON.stringify(openapiDocument({ ...contract, routes }), null, 2)}\n`;
}

function openapiDocument(contract: HttpContract): JsonObject {
  const deps = { contract, schemas: new Schemas(contract), problems: new Problems(contract) };
  const paths = pathsOf(deps);
  const webhooks = webhooksOf(contract, deps.schemas);
  const named = new Map([...deps.schemas.components, ...deps.problems.schemas]);
  const references = JSON.stringify([paths, ...deps.problems.responses.values()]);
  return {
    openapi: "3.1.0",
    info: INFO,
    servers: [
      { url: "/", description: "This gateway." },
      { url: "/v1", description: "The same, with the version in the path." },
    ],
    tags: tagsOf(contract),
    paths,
    ...(webhooks === undefined ? {} : { webhooks: webhooks.webhooks }),
    components: {
      schemas: sorted(named),
      responses: sorted(deps.problems.responses),
      parameters: used(PARAMETERS, references),
      headers: used(HEADERS, references),
      examples: sorted(deps.problems.examples),
      securitySchemes: SECURITY_SCHEMES,
      ...(webhooks === undefined ? {} : { pathItems: webhooks.pathItems }),
    },
  };
}

function pathsOf(deps: OperationDependencies): JsonObject {
  const byPath = groupBy(deps.contract.routes, ({ path }) => shapeOf(path));
  const groups = [...byPath.values()].sort(([left], [right]) => compareTemplates(left.path, right.path));
  return Object.fromEntries(
    groups.map((routes) => {
      const byMethod = groupBy(routes, ({ method }) => method.toLowerCase());
      const operations = [...byMethod].map(([method, group]) => [method, operationOf(deps, callFirst(group))]);
      return [routes[0].path.text, Object.fromEntries(operations) as JsonObject];
    }),
  );
}

/** The call that is not a stream comes first, because the operation has its name. */
function callFirst([first, ...others]: OperationRoutes): OperationRoutes {
  const [second] = others;
  return first.stream === undefined || second === undefined ? [first, ...others] : [second, first];
}

/** The services that have a route, in the order of the contract. */
function tagsOf(contract: HttpContract): JsonObject[] {
  const tags = new Map<string, DescService>();
  for (const route of contract.routes) {
    const method = methodOf(contract, route);
    tags.set(tagOf(method), method.parent);
  }
  return Array.from(tags, ([name, service]) => ({ name, description: aboutOf(service) }));
}

/** The comment without the order of checks, which the responses of each operation show. */
function aboutOf(service: DescService): string {
  const paragraphs = commentOf(service).split("\n\n");
  return paragraphs.filter((paragraph) => !paragraph.startsWith("Every rpc")).join("\n\n");
}

/** The components that the contract has a use for. */
function used(components: JsonObject, references: string): JsonObject {
  return Object.fromEntries(Object.entries(components).filter(([name]) => references.includes(`/${name}"`)));
}

function sorted(named: ReadonlyMap<string, JsonObject>): JsonObject {
  return Object.fromEntries([...named].sort(([left], [right]) => (left < right ? -1 : 1)));
}

const { version: VERSION } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as {
  readonly version: string;
};

const INFO: JsonObject = {
  title: "KESC API",
  version: VERSION,
  summary: "Accounts in KESC, a stablecoin that Kenyan shillings back one to one.",
  description: [
    "**Mint**: shillings come in, and the service credits KESC. **Redeem**: the service burns KESC, and shillings go out.",
    "- Send the API key as `X-API-Key`, or as `Authorization: Bearer`. It alone determines the organization.",
    "- Repeating a call is safe: the same `reference`, `user_id` or `Idempotency-Key` is the same thing. After a broken " +
      "connection, a 503 or a 504, send the same call again.",
    '- An amount is a number in responses. In requests it is a number or, safer, a text: `"1000.00"`. It has at most ' +
      "two fraction digits, and is never rounded.",
    "- A time is RFC 3339. Responses have UTC and milliseconds.",
    "- A request with an unknown field is refused. In a request `null` is the same as an absent field, but in a PATCH it " +
      "removes the value. Responses have every field, and later versions may add fields.",
    "- An error is `application/problem+json`. Its `code` is the reason, and its `type` the address of a page about it. " +
      "The page [/errors](/errors) lists them.",
    "- Every response has an `X-Request-Id`. Name it when you ask for help.",
    "- A key has a rate. `RateLimit` says how many calls it has left. A call beyond it is 429 `RATE_LIMITED`.",
    "- `HEAD` works wherever `GET` does.",
    "- Later versions may add values to the enums of responses: a schema with `x-extensible-enum` lists those of this one.",
  ].join("\n"),
  contact: { name: "The operator of this service" },
  license: { name: "Apache-2.0", identifier: "Apache-2.0" },
};

const SECURITY_SCHEMES: JsonObject = {
  ApiKeyHeader: { type: "apiKey", in: "header", name: "X-API-Key", description: "An API key: `kesc_…`." },
  Bearer: { type: "http", scheme: "bearer", description: "The same API key, as a bearer token." },
};

const REQUEST_ID: JsonObject = { type: "string", minLength: 1, maxLength: 128, pattern: "^[A-Za-z0-9._:-]+$" };

const PARAMETERS: JsonObject = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "A second guard against a repeated call, beside the reference or the user_id: the same key with the same " +
      "content returns the first result. It guards for 30 days.",
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x21-\\x7e]+$" },
  },
  GrpcTimeout: {
    name: "Grpc-Timeout",
    in: "header",
    description: "The time that the call may take: digits and one of the units H, M, S, m (millis), u and n.",
    schema: { type: "string", pattern: "^[0-9]{1,8}[HMSmun]$", examples: ["5S"] },
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    description:
      "The `ETag` of the version that the client has seen. If there is a newer one, the call does nothing, and is " +
      "412 `ETAG_MISMATCH`.",
    schema: { type: "string", pattern: '^(\\*|"[\\x21\\x23-\\x7e]+")$' },
  },
  LastEventId: {
    name: "Last-Event-ID",
    in: "header",
    description: "The last id that the client has processed. The stream goes on after it, whatever the query says.",
    schema: { type: "integer", format: "int64", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  },
  RequestId: {
    name: "X-Request-Id",
    in: "header",
    description:
      "The client's own id of the request: 1 to 128 letters, digits, `.`, `_`, `:` or `-`. The service makes one if there is none, and in place of any other.",
    schema: { type: "string" },
  },
};

const HEADERS: JsonObject = {
  RequestId: { description: "The id under which both programs have logged the request.", schema: REQUEST_ID },
  Location: { description: "The path of what was created.", schema: { type: "string", format: "uri-reference" } },
  ETag: { description: "The version of the resource, for `If-Match`.", schema: { type: "string" } },
  IdempotentReplayed: {
    description: "Only in a replay: an earlier call did this, and this one did nothing.",
    schema: { type: "string", const: "true" },
  },
  RateLimit: {
    description:
      "The rate at which the call was counted (`calls` or `lists`), the calls that the key has left at this server " +
      "(`r`), and the seconds until it has all of them again, or one if it has none (`t`). Not without a valid key.",
    schema: { type: "string", examples: ['"calls";r=29990;t=1'] },
  },
  RateLimitPolicy: {
    description: "The calls (`q`) that the key has in so many seconds (`w`), at most all of them at once.",
    schema: { type: "string", examples: ['"calls";q=30000;w=30'] },
  },
  RetryAfter: {
    description: "In seconds: when to send the call again.",
    schema: { type: "integer", format: "int32", minimum: 1 },
  },
  WwwAuthenticate: { description: "How to send a key.", schema: { type: "string" } },
};
