import { InvalidArgumentError } from "commander";

import { parseCertificateName, parseScope, type Scope } from "../../domain/api-key.js";
import { parseTierName } from "../../domain/limits/limits.js";
import { type Cents, NO_CENTS, parseAmount } from "../../domain/values/cents.js";
import type { Parsed } from "../../domain/values/parsed.js";
import { parseDescription, parseStatusReason, type StatusReason } from "../../domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";

const UNITS_MILLIS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION = /^([1-9][0-9]{0,4})([smhd])$/;

/** Makes a parser that throws an error that Commander prints. */
export function argument<Value>(parse: (text: string) => Parsed<Value>): (text: string) => Value {
  return (text) => {
    const given = parse(text);
    if (!given.ok) throw new InvalidArgumentError(`It ${given.problem}.`);
    return given.value;
  };
}

/** Parses a name of a certificate, such as "URI:spiffe://…". */
export const certificateName = argument(parseCertificateName);

export const tierName = argument(parseTierName);

/** Parses a label: printable and not empty. Throws an error that Commander prints. */
export function nonEmptyName(text: string): string {
  return notEmpty(argument(parseDescription)(text.trim()));
}

/**
 * Parses "90d", "12h", "30m" or "45s" into milliseconds. Throws an error that Commander prints.
 */
export function durationMillis(text: string): number {
  const [, count, unit] = DURATION.exec(text) ?? [];
  if (count === undefined || unit === undefined) {
    throw new InvalidArgumentError(
      "It must be a number of days, hours, minutes or seconds, such as 90d, 12h, 30m or 45s.",
    );
  }
  return Number(count) * UNITS_MILLIS[unit as keyof typeof UNITS_MILLIS];
}

/** Parses the reason for a change. Throws an error that Commander prints. */
export function statusReason(text: string): StatusReason {
  return notEmpty(argument(parseStatusReason)(text.trim()));
}

function notEmpty<Text extends string>(text: Text): Text {
  if (text === "") throw new InvalidArgumentError("It must not be empty.");
  return text;
}

/** Returns a parser of whole numbers. It throws an error that Commander prints. */
export function wholeNumber({ min, max }: { readonly min: number; readonly max: number }): (text: string) => number {
  return (text) => {
    const number = /^[0-9]{1,9}$/.test(text) ? Number(text) : NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${String(min)} to ${String(max)}.`);
  };
}

/** Parses the sequence of a row. Throws an error that Commander prints. */
export function sequenceNumber(text: string): number {
  if (/^[1-9][0-9]{0,14}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be the sequence of an event, such as 1234.");
}

/** Parses an amount such as "1000.00", or "0". Throws an error that Commander prints. */
export function amountOrZero(text: string): Cents {
  if (/^0(\.00?)?$/.test(text)) return NO_CENTS;
  return argument(parseAmount)(text);
}

/** Parses a day in Kenya, such as 2027-01-31, into its beginning. Throws as the others do. */
export function day(text: string): UnixMillis {
  const begin = new Date(`${text}T00:00:00+03:00`);
  // Date takes 2027-02-31 for a day in March.
  const isDay = !Number.isNaN(begin.getTime()) && new Date(`${text}T00:00:00Z`).toISOString().startsWith(text);
  if (!/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text) || !isDay) {
    throw new InvalidArgumentError("It must be a day such as 2027-01-31.");
  }
  return toUnixMillis(begin.getTime());
}

/** Parses "accounts:read,transactions:read". Throws an error that Commander prints. */
export function scopeList(text: string): readonly Scope[] {
  const scopes = text.split(",").map((word) => {
    const scope = parseScope(word.trim());
    if (!scope.ok) throw new InvalidArgumentError(`"${word.trim()}" ${scope.problem}.`);
    return scope.value;
  });
  return [...new Set(scopes)];
}
