import { type FoundOperation, type Parameter, resolved } from "./document.js";

/** A request that the document shows as an example, with its values still apart. */
export interface ExampleRequest {
  readonly path: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

export function parametersOf({ operation }: FoundOperation, place: Parameter["in"]): readonly Parameter[] {
  return operation.parameters.map((parameter) => resolved<Parameter>(parameter)).filter((each) => each.in === place);
}

export function exampleRequest(found: FoundOperation): ExampleRequest {
  const examplesIn = (place: Parameter["in"]): Record<string, unknown> =>
    Object.fromEntries(
      parametersOf(found, place)
        .filter(({ example }) => example !== undefined)
        .map(({ name, example }) => [name, example]),
    );
  const body = found.operation.requestBody?.content["application/json"]?.example as Record<string, unknown> | undefined;
  return { path: examplesIn("path"), query: examplesIn("query"), headers: {}, body };
}

/** The path and the query of the request. */
export function targetOf({ path }: FoundOperation, request: ExampleRequest): string {
  const filled = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(String(request.path[name])));
  const query = Object.entries(request.query).flatMap(([name, value]) => pairsOf(name, value));
  return query.length === 0 ? filled : `${filled}?${query.join("&")}`;
}

function pairsOf(name: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pairsOf(name, item));
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, item]) => pairsOf(`${name}[${key}]`, item));
  }
  return [`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`];
}
