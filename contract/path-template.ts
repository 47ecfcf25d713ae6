/**
 * A path with fields in braces, such as "/accounts/{account_id}/freeze". Each segment is either
 * fixed text or one field.
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

/** Every path is served without the version and with it. */
export const PATH_PREFIXES = ["", VERSION] as const;

/** Returns the prefix with which the client wrote this path. */
export function prefixOf(path: string): string {
  return path.startsWith(`${VERSION}/`) ? VERSION : "";
}

/**
 * Parses the part of google.api.http's template language that the gateway serves. Throws for
 * wildcards, nested fields and verbs after a colon: a gateway that cannot serve its contract must
 * not start.
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

/** Returns the names of the fields, in the order of the path. */
export function fieldNamesOf(template: PathTemplate): string[] {
  return template.segments.filter((segment) => segment.kind === "field").map((segment) => segment.name);
}

/** Two templates that match the same paths have the same shape: it leaves out the field names. */
export function shapeOf(template: PathTemplate): string {
  return template.segments.map((segment) => (segment.kind === "field" ? "/{}" : `/${segment.name}`)).join("");
}

/** Returns a pattern for the paths that match the template, with the version and without it. */
export function patternOf(template: PathTemplate): RegExp {
  const segments = template.segments.map(({ kind, name }) => (kind === "field" ? "[^/]+" : escaped(name)));
  return new RegExp(`^(?:${PATH_PREFIXES.map(escaped).join("|")})/${segments.join("/")}$`);
}

function escaped(text: string): string {
  return text.replaceAll(/[.~-]/g, "\\$&");
}

/**
 * Sorts fixed text before fields: the router must try "/transactions/mint" before
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

/** Replaces the fields by the values, in the order of the path, each percent-encoded. */
export function fillPath(template: PathTemplate, values: readonly string[]): string {
  const remaining = values.values();
  return template.segments
    .map(({ kind, name }) => `/${kind === "field" ? encodeURIComponent(remaining.next().value ?? "") : name}`)
    .join("");
}
