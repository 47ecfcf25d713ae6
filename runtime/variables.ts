import { closest, distance } from "fastest-levenshtein";
import * as z from "zod";

import { readSecret } from "./files/secret-file.js";
import { VARIABLES } from "./variables/declarations.js";
import type { Variable } from "./variables/forms.js";

/** A program that reads a wrong variable exits with this code: it was called wrongly. */
export const WRONG_VARIABLE_EXIT_CODE = 2;

type VariableName = keyof typeof VARIABLES;
type VariableSchemas = { readonly [Name in VariableName]: (typeof VARIABLES)[Name]["schema"] };

const ENTRIES = Object.entries(VARIABLES) as [VariableName, Variable<z.ZodType>][];
const ENVIRONMENT = z.object(
  Object.fromEntries(ENTRIES.map(([name, { schema }]) => [name, schema])) as VariableSchemas,
);

// Callers keep their key in it, `kesc import` among them. No program configures itself with it.
const API_KEY_VARIABLES: readonly string[] = ["KESC_API_KEY", "KESC_OPERATOR_KEY"].flatMap((key) => [
  key,
  `${key}_FILE`,
]);

export type Environment = Readonly<Record<string, string | undefined>>;

/** The value of each variable. */
export type Values = z.output<typeof ENVIRONMENT>;

/** The values, or one sentence for each wrong variable. */
export type ValuesResult =
  { readonly ok: true; readonly values: Values } | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Parses the environment. An empty variable counts as absent. An unknown variable that begins with
 * KESC_ is wrong: it is probably a misspelt one.
 */
export function readVariables(environment: Environment): ValuesResult {
  const databaseUrl = readSecret(environment, "DATABASE_URL");
  const given: Environment = { ...environment, DATABASE_URL: databaseUrl.ok ? databaseUrl.value : undefined };
  const texts = ENTRIES.map(([name, { fallback }]) => [
    name,
    given[name] === "" ? fallback : (given[name] ?? fallback),
  ]);
  const result = ENVIRONMENT.safeParse(Object.fromEntries(texts));
  const problems = [
    ...(databaseUrl.ok ? [] : [databaseUrl.problem]),
    ...(result.error?.issues ?? []).map((issue) => describeIssue(issue, environment)),
    ...halvesOfPairs(environment),
    ...withoutNeeded(environment),
    ...Object.keys(environment).filter(isUnknown).map(describeUnknown),
  ];
  return result.success && problems.length === 0 ? { ok: true, values: result.data } : { ok: false, problems };
}

/** Returns the origin of the operators' console: by default, people open it on its machine. */
export function consoleOriginOf(values: Values): string {
  const scheme = values.KESC_TLS_CERT_FILE === undefined ? "http" : "https";
  const ofAddress = `${scheme}://localhost:${String(values.KESC_CONSOLE_ADDRESS.port)}`;
  return values.KESC_CONSOLE_ORIGIN ?? new URL(ofAddress).origin;
}

/** The variables of a pair come together. */
const PAIRS = [
  ["KESC_TLS_CERT_FILE", "KESC_TLS_KEY_FILE"],
  ["KESC_GATEWAY_CERT_FILE", "KESC_GATEWAY_KEY_FILE"],
  ["KESC_CALLBACK_BASE_URL", "KESC_CALLBACK_SECRET_FILE"],
] as const;

function halvesOfPairs(environment: Environment): readonly string[] {
  return PAIRS.flatMap((pair) => {
    const missing = pair.filter((name) => (environment[name] ?? "") === "");
    return missing.length === 1 ? [`${missing.join()} is not set. ${pair.join(" and ")} come together.`] : [];
  });
}

/** The first variable has no effect without the second. */
const NEEDS = [
  ["KESC_TLS_CLIENT_CA_FILE", "KESC_TLS_CERT_FILE"],
  ["KESC_GATEWAY_CERT_FILE", "KESC_GATEWAY_CA_FILE"],
] as const;

function withoutNeeded(environment: Environment): readonly string[] {
  const isSet = (name: string): boolean => (environment[name] ?? "") !== "";
  return NEEDS.filter(([name, needed]) => isSet(name) && !isSet(needed)).map(
    ([name, needed]) => `${needed} is not set, and ${name} has no effect without it.`,
  );
}

function describeIssue(issue: z.core.$ZodIssue, environment: Environment): string {
  const name = String(issue.path[0]) as VariableName;
  const secret = "secret" in VARIABLES[name];
  return `${name} ${issue.message}${secret ? "" : `; it is "${environment[name] ?? ""}"`}.`;
}

function isUnknown(name: string): boolean {
  return name.startsWith("KESC_") && !API_KEY_VARIABLES.includes(name) && !Object.hasOwn(VARIABLES, name);
}

// A name with more changed letters than this is another name, not a misspelt one.
const CHANGED_LETTERS_MAX = 4;

function describeUnknown(name: string): string {
  const nearest = closest(name, Object.keys(VARIABLES));
  const advice =
    distance(name, nearest) <= CHANGED_LETTERS_MAX
      ? `Did you mean ${nearest}?`
      : "Unset it; docs/configuration.md lists all variables.";
  return `Unknown variable ${name}. ${advice}`;
}
