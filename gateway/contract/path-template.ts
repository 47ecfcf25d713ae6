/**
 * A path with fields in braces, such as "/accounts/{account_id}/freeze": each segment is fixed text
 * or one field's name.
 */
export interface PathTemplate {
  readonly text: string;
  readonly segments: readonly PathSegment[];
}

interface PathSegment {
  readonly kind: "text" | "field";
  readonly name: string;
}

const FIELD = /^\{([a-z][a-z0-9_]*)\}$/;
const TEXT = /^[A-Za-z0-9._~-]+$/;

const VERSION = "/v1";

/** What may stand before each path: nothing, or the version. */
export const PATH_PREFIXES = ["", VERSION] as const;

/** The one of them that stands before this path. */
export function prefixOf(path: string): string {
  return path.startsWith(`${VERSION}/`) ? VERSION : "";
}

/**
 * Parses the part of google.api.http's template language that the gateway serves. Throws for the
 * rest of it (wildcards, nested fields, verbs after a colon), so that a contract which it cannot
 * serve stops it at the start.
 */
export function parsePathTemplate(text: string): PathTemplate {
  if (!text.startsWith("/")) throw new Error(`the path ${JSON.stringify(text)} does not begin with a slash`);
  const segments = text
    .slice(1)
    .split("/")
    .map((segment): PathSegment => {
      const field = FIELD.exec(segment)?.[1];
      if (field !== undefined) return { kind: "field", name: field };
      if (TEXT.test(segment)) return { kind: "text", name: segment };
      throw new Error(`the gateway cannot serve the segment ${JSON.stringify(segment)} of the path ${text}`);
    });
  return { text, segments };
}

/** The names of the fields, in order. */
export function fieldNames(template: PathTemplate): string[] {
  return template.segments.filter((segment) => segment.kind === "field").map((segment) => segment.name);
}

/**
 * The template with the fields' names left out: equal for two templates that match the same paths.
 */
export function shapeOf(template: PathTemplate): string {
  return template.segments.map((segment) => (segment.kind === "field" ? "/{}" : `/${segment.name}`)).join("");
}

/**
 * Orders fixed text before fields, so that "/transactions/mint" is tried before
 * "/transactions/{id}".
 */
export function compareTemplates(left: PathTemplate, right: PathTemplate): number {
  for (const [index, segment] of left.segments.entries()) {
    const other = right.segments[index];
    if (other === undefined) return 1;
    if (segment.kind !== other.kind) return segment.kind === "text" ? -1 : 1;
  }
  return left.segments.length - right.segments.length;
}

/** Fills in the fields, in the order of the path, each percent-encoded. */
export function fillPath(template: PathTemplate, values: readonly string[]): string {
  const rest = values.values();
  return template.segments
    .map(({ kind, name }) => `/${kind === "field" ? encodeURIComponent(rest.next().value ?? "") : name}`)
    .join("");
}
