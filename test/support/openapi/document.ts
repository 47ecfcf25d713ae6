import { readFileSync } from "node:fs";

import { CONTRACT_URL, readContract } from "../../../contract/contract.js";
import { openapiText } from "../../../gateway/openapi/document.js";

/** The parts of an OpenAPI document that the tests read. */
export interface OpenapiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, unknown>>;
  readonly components: {
    readonly pathItems: Readonly<Record<string, unknown>>;
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, DocumentedResponse>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
    readonly securitySchemes: Readonly<Record<string, unknown>>;
  };
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly "x-required-scope"?: string;
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, DocumentedResponse | Reference>>;
  readonly security: readonly unknown[];
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface DocumentedResponse {
  readonly headers?: Readonly<Record<string, unknown>>;
  /** Undefined: the response has no body. */
  readonly content?: Content;
  /** The forms that generators must not see. */
  readonly "x-streams"?: Content;
}

export type Content = Readonly<Record<string, MediaType>>;

export interface MediaType {
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Reference {
  readonly $ref: string;
}

export type Schema = Readonly<Record<string, unknown>>;

export const OPENAPI_TEXT = openapiText(readContract(readFileSync(CONTRACT_URL)));
export const OPENAPI = JSON.parse(OPENAPI_TEXT) as OpenapiDocument;

/** One operation, and where it stands in the document. */
export interface FoundOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

export const OPERATIONS: readonly FoundOperation[] = Object.entries(OPENAPI.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

/** Follows a reference inside the document. */
export function resolved<T extends object>(value: T | Reference): T {
  if (!("$ref" in value)) return value;
  const names = value.$ref.replace(/^#\//, "").split("/");
  let found: unknown = OPENAPI;
  for (const name of names) found = (found as Record<string, unknown>)[name];
  return found as T;
}
