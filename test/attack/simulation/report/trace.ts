import type { Authority } from "../../../../src/domain/authority.js";
import type { Command } from "../../../../src/domain/operations.js";
import { type Cents, formatCents } from "../../../../src/domain/values/cents.js";

/** The steps of a run. A run that no reader will see keeps none. */
export class Trace {
  readonly #lines: string[] = [];
  readonly #kept: boolean;

  constructor({ kept }: { kept: boolean }) {
    this.#kept = kept;
  }

  note(millis: number, who: string, what: () => string): void {
    if (this.#kept) this.#lines.push(`${String(millis).padStart(6)} ms  ${who.padEnd(9)}  ${what()}`);
  }

  get lines(): readonly string[] {
    return this.#lines;
  }
}

/** The fields that a trace leaves out. */
const UNTOLD: ReadonlySet<string> = new Set(["name", "organizationId", "actor", "railTerms", "nextCheckAt"]);

/** Returns the name of a command and its fields: "mint: accountId acc_1, amountCents 5.00". */
export function describeCommand(command: Command): string {
  const told = Object.entries(command).filter(([field, value]) => !UNTOLD.has(field) && value !== "");
  return `${command.name}: ${told.flatMap(([field, value]) => fieldOf(field, value)).join(", ")}`;
}

function fieldOf(field: string, value: unknown): readonly string[] {
  if (value === undefined) return [];
  if (field === "authority") return [`by ${(value as Authority).person}`];
  if (typeof value === "string") return [`${field} ${shortId(value)}`];
  const isCents = field.endsWith("Cents") && Number.isInteger(value);
  return [`${field} ${isCents ? formatCents(value as Cents) : JSON.stringify(value)}`];
}

function shortId(id: string): string {
  return id.replace(/_0*/, "_");
}
