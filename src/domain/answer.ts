import { formatCents } from "./values/cents.js";

/** What a refusal is to a program that does not know its reason: the codes of google.rpc. */
const CODES = {
  aborted: "ABORTED",
  alreadyExists: "ALREADY_EXISTS",
  deadlineExceeded: "DEADLINE_EXCEEDED",
  failedPrecondition: "FAILED_PRECONDITION",
  internal: "INTERNAL",
  invalidArgument: "INVALID_ARGUMENT",
  notFound: "NOT_FOUND",
  permissionDenied: "PERMISSION_DENIED",
  resourceExhausted: "RESOURCE_EXHAUSTED",
  unauthenticated: "UNAUTHENTICATED",
  unavailable: "UNAVAILABLE",
  unimplemented: "UNIMPLEMENTED",
} as const;
type Code = (typeof CODES)[keyof typeof CODES];

/** What a caller gets for a refusal. */
export interface Answer<Refused> {
  readonly code: Code;
  /** The refusal's fields beside its reason. */
  readonly fields: readonly (keyof Refused & string)[];
  /** The text for people. */
  readonly message: (refused: Refused) => string;
  /** When the same call can succeed. If omitted, the refusal's `retryMillis` tells it, if any. */
  readonly retryMillis?: number;
}

/** The refusals of a table of answers. */
export type RefusalsOf<Table> = {
  [Reason in keyof Table]: Table[Reason] extends Answer<infer Refused> ? { readonly reason: Reason } & Refused : never;
}[keyof Table];

/**
 * One second is enough for a full queue to drain and for another server to take over. It is too
 * short to look like an outage.
 */
export const SOON_MILLIS = 1_000;

/** Makes an answer from its sentence. The refusal has the fields that the sentence names. */
type Say<Fields> = <Field extends keyof Fields & string = never>(
  sentence: TemplateStringsArray,
  ...fields: readonly Field[]
) => Answer<Readonly<Pick<Fields, Field>>>;

/** Returns what says the sentences of refusals with these fields, by their code. */
export function sentencesOf<Fields>(): Readonly<Record<keyof typeof CODES, Say<Fields>>> {
  const saying =
    (code: Code): Say<Fields> =>
    (sentence, ...fields) => ({
      code,
      fields,
      message: (refused) => {
        const words = fields.map((field) => wordsOf(field, refused[field]));
        return sentence.map((part, index) => part + (words[index] ?? "")).join("");
      },
    });
  const all = Object.entries(CODES).map(([name, code]) => [name, saying(code)]);
  return Object.fromEntries(all) as Record<keyof typeof CODES, Say<Fields>>;
}

/** Makes an answer whose sentence depends on the values. */
export function worded<Refused>(
  code: Code,
  fields: readonly (keyof Refused & string)[],
  message: (refused: Refused) => string,
): Answer<Refused> {
  return { code, fields, message };
}

/** The facts that the contract does not call by the name of the field. */
const FACT_NAMES: Readonly<Record<string, string>> = {
  aboveCents: "nearest_above",
  belowCents: "nearest_below",
  endpointId: "webhook_endpoint_id",
  keyId: "api_key_id",
  kind: "destination_kind",
  limitCents: "max_amount",
  openPayments: "open_transactions",
  receipt: "rail_receipt",
  reversedById: "reversed_by_transaction_id",
  status: "transaction_status",
};
/** The fields with a word of the domain, which the contract writes in lower case. */
const IN_LOWER_CASE: ReadonlySet<string> = new Set(["cause", "from", "kind", "period", "state", "status", "to"]);
/** The facts in a field that is an object. What the object has beside its type is never told. */
const FACTS_WITHIN: Readonly<Record<string, readonly string[]>> = {
  nearest: ["belowCents", "aboveCents"],
  payable: ["minCents", "maxCents", "stepCents"],
  reached: ["period", "usedCents", "remainingCents", "resetsAt"],
};
/** The fields that a program finds elsewhere in the answer, or that are for people alone. */
const NO_FACTS: ReadonlySet<string> = new Set(["fields", "problem", "retryMillis"]);

/**
 * Returns the facts for programs, whose names and forms follow from those of the fields. The
 * contract's ErrorReason and AdminErrorReason list the names. A field that is undefined is no fact.
 */
export function factsOf(fields: readonly string[], refusal: object): readonly (readonly [string, string])[] {
  const values = refusal as Readonly<Record<string, unknown>>;
  return fields.flatMap((field) => {
    const value = values[field];
    const within = FACTS_WITHIN[field];
    if (value === undefined || NO_FACTS.has(field)) return [];
    if (within !== undefined) return factsOf(within, value as object);
    return [[factName(field), Array.isArray(value) ? value.join(",") : wordsOf(field, value)]];
  });
}

function factName(field: string): string {
  const name = field.replace(/Cents$/, "").replace(/Millis$/, "Seconds");
  return FACT_NAMES[field] ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function wordsOf(field: string, value: unknown): string {
  if (Array.isArray(value)) return listOf(value as readonly string[]);
  if (typeof value !== "number") return IN_LOWER_CASE.has(field) ? String(value).toLowerCase() : String(value);
  if (field.endsWith("Cents")) return formatCents(value);
  if (field.endsWith("Millis")) return String(Math.ceil(value / 1_000));
  return field === "until" || field.endsWith("At") ? new Date(value).toISOString() : String(value);
}

/** Joins words as a list of a sentence: "amount, description and metadata". */
export function listOf(words: readonly string[]): string {
  return [...words.slice(0, -2), words.slice(-2).join(" and ")].join(", ");
}
