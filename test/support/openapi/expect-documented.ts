import type { RestReply } from "../callers/rest-caller.js";
import {
  type DocumentedResponse,
  type FoundOperation,
  type MediaType,
  OPERATIONS,
  resolved,
  type Schema,
} from "./document.js";
import { differences } from "./schemas.js";

/** The headers that the document must name where a reply has them. */
const NAMED_HEADERS = [
  "location",
  "etag",
  "idempotent-replayed",
  "retry-after",
  "www-authenticate",
  "x-request-id",
  "ratelimit",
  "ratelimit-policy",
];

/** The statuses that HTTP itself has, whatever the operation. */
const OF_HTTP: ReadonlySet<number> = new Set([408, 417, 431]);

const patterns = OPERATIONS.map((found) => ({
  found,
  pattern: new RegExp(`^(?:/v1)?${found.path.replaceAll(".", "\\.").replaceAll(/\{[^}]+\}/g, "[^/]+")}$`),
  fields: found.path.split("{").length,
}));

/** The operation that serves the request, if one does. */
export function operationFor(method: string, target: string): FoundOperation | undefined {
  const [path = ""] = target.split("?");
  return patterns
    .filter(({ found, pattern }) => found.method === method.toLowerCase() && pattern.test(path))
    .sort((left, right) => left.fields - right.fields)[0]?.found;
}

/** Throws when the reply is not one that the OpenAPI document says the operation can give. */
export function expectDocumented(method: string, target: string, reply: RestReply): void {
  const found = operationFor(method, target);
  // The refusal of a path that no operation has is no part of the document.
  if (found === undefined || reply.json["code"] === "NO_SUCH_ROUTE") return;
  const problems = problemsOf(found, reply);
  if (problems.length === 0) return;
  const { operationId } = found.operation;
  throw new Error(
    [
      `openapi.json does not allow this reply of ${operationId}: ${String(reply.status)} ${reply.text.slice(0, 2_000)}`,
      ...problems,
    ].join("\n  "),
  );
}

function problemsOf({ operation }: FoundOperation, reply: RestReply): readonly string[] {
  const { responses } = operation;
  const documented = responses[String(reply.status)] ?? (OF_HTTP.has(reply.status) ? responses["default"] : undefined);
  if (documented === undefined) return ["the status is not documented"];
  const response = resolved<DocumentedResponse>(documented);
  const names = Object.keys(response.headers ?? {}).map((name) => name.toLowerCase());
  const missing = NAMED_HEADERS.filter((name) => reply.headers[name] !== undefined && !names.includes(name));
  const type = reply.headers["content-type"]?.replace(/;.*/, "") ?? "";
  const media = response.content?.[type] ?? response["x-streams"]?.[type];
  const inBody =
    reply.text === "" && response.content === undefined
      ? []
      : media === undefined
        ? [`the type ${type} is not documented`]
        : bodyProblems(type, media, reply.text);
  return [...missing.map((name) => `the header ${name} is not documented`), ...inBody];
}

function bodyProblems(type: string, media: MediaType, text: string): readonly string[] {
  const item = media.schema["x-item-schema"] as Schema;
  switch (type) {
    case "text/csv":
      return text.startsWith(String(media.example)) ? [] : ["the columns are not those that are documented"];
    case "application/x-ndjson":
      return text
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith('{"next_sequence"'))
        .flatMap((line) => differences(item, JSON.parse(line)));
    case "text/event-stream":
      return [...text.matchAll(/event: (?!error$).*\ndata: (.*)$/gm)].flatMap(([, data = ""]) =>
        differences(item, JSON.parse(data)),
      );
    default:
      return differences(media.schema, JSON.parse(text));
  }
}
