import { parseFingerprint, parsePasskeyId } from "../../../domain/operator.js";
import type { ApiKeyId, DepositId, OperatorId, ProposalId } from "../../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import { NO_OUTER_SPACE, parseDescription, parseName, parseStatusReason } from "../../../domain/values/text.js";
import type { UnixMillis } from "../../../domain/values/time.js";
import type { Timestamp } from "../../../gen/google/protobuf/timestamp.js";
import { fieldsOf, KINDS } from "../field-kinds.js";
import { parseMoment } from "../timestamp.js";
import { parseRoles } from "./roles.js";

const CELL_MAX = 999;

/** Parses a label: 1 to 256 printable characters, without a space at either end. */
export const parseLabel = required((unchecked) => {
  return unchecked.trim() === unchecked ? parseDescription(unchecked) : unparsed(NO_OUTER_SPACE);
});

/**
 * Parses the id by which an operator names a thing: 1 to 128 printable characters. An id that the
 * service never gave out is not found.
 */
export const parseId = parseName;

/** Parses the words for a change: 1 to 256 printable characters. */
export const parseNote = required(parseStatusReason);

/** The kinds of fields of operators, who say why they act, and may name an id that never was. */
export const OPERATORS_KINDS = {
  ...KINDS,
  api_key_id: { as: "keyId", parse: parseId<ApiKeyId> },
  deposit_id: parseId<DepositId>,
  key_sha256: parseFingerprint,
  note: parseNote,
  operator_id: parseId<OperatorId>,
  passkey_id: parsePasskeyId,
  proposal_id: parseId<ProposalId>,
  roles: parseRoles,
} as const;

/** The `parse` of an rpc of operators, by the names of its fields. */
export const fields = fieldsOf(OPERATORS_KINDS);

function required<Value>(parse: (unchecked: string) => Parsed<Value>): (unchecked: string) => Parsed<Value> {
  return (unchecked) => (unchecked.trim() === "" ? unparsed("is required", "REQUIRED") : parse(unchecked));
}

/** Parses the end of a key: a time to come, or never. One of both must be asked for. */
export function parseExpiry(
  expiresAt: Timestamp | undefined,
  neverExpires: boolean,
  now: UnixMillis,
): Parsed<UnixMillis | undefined> {
  if ((expiresAt === undefined) !== neverExpires)
    return unparsed("is required unless never_expires is true", "REQUIRED");
  const moment = parseMoment(expiresAt);
  if (!moment.ok || moment.value === undefined || moment.value > now) return moment;
  return unparsed("must be in the future", "OUT_OF_RANGE");
}

export function parseCell(unchecked: number | undefined): Parsed<number | undefined> {
  return unchecked === undefined || (unchecked >= 0 && unchecked <= CELL_MAX)
    ? parsed(unchecked)
    : unparsed(`must be a whole number from 0 to ${String(CELL_MAX)}`, "OUT_OF_RANGE");
}
