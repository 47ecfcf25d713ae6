import { type Account, ACCOUNT_STATUSES, type AccountStatus, etagOf } from "../../domain/account.js";
import { formatCents } from "../../domain/values/cents.js";
import { type DepositReference, readDepositReference } from "../../domain/values/deposit-reference.js";
import { type AccountId, parseAccountId } from "../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import { type Account as AccountMessage, AccountStatus as AccountStatusMessage } from "../../gen/kesc/v1/account.js";
import { enumOf, parseWords } from "./enums.js";
import { shown } from "./fields.js";
import { toFreezeMessage } from "./freeze.js";
import { toTimestamp } from "./timestamp.js";

export const ACCOUNT_STATUS_MESSAGES = enumOf(AccountStatusMessage, "ACCOUNT_STATUS", ACCOUNT_STATUSES);

/** `asOfSequence` is the row for which the account holds, if that is a point in the past. */
export function toAccountMessage(account: Account, asOfSequence?: number): AccountMessage {
  return {
    id: account.id,
    // Absent after an erasure.
    user_id: account.person?.userId,
    phone_number: account.person?.phoneNumber,
    email: account.person && shown(account.person.email),
    status: ACCOUNT_STATUS_MESSAGES[account.status],
    status_note: shown(account.statusNote),
    freezes: account.freezes.map(toFreezeMessage),
    available_balance: formatCents(account.availableCents),
    held_balance: formatCents(account.heldCents),
    currency: "KESC",
    tier: account.tier,
    deposit_reference: account.depositReference,
    created_at: toTimestamp(account.createdAt),
    updated_at: toTimestamp(account.updatedAt),
    etag: asOfSequence === undefined ? etagOf(account) : undefined,
    as_of_sequence: asOfSequence === undefined ? undefined : BigInt(asOfSequence),
    warnings: [],
  };
}

/** Parses a deposit reference as payers may type it. */
export function parseDepositReference(unchecked: string): Parsed<DepositReference> {
  const reference = readDepositReference(unchecked);
  return reference === undefined
    ? unparsed("must be 8 digits from 2, of which the last is the check digit")
    : parsed(reference);
}

const IDS_MAX = 100;

/** Parses the ids of a filter, at most 100. Returns each once. No id means any account. */
export function parseAccountIds(unchecked: readonly string[]): Parsed<readonly AccountId[] | undefined> {
  if (unchecked.length > IDS_MAX) return unparsed(`must have at most ${String(IDS_MAX)} ids`, "TOO_MANY");
  const ids = new Set<AccountId>();
  for (const text of unchecked) {
    const id = parseAccountId(text);
    if (!id.ok) return unparsed(`has an id that ${id.problem}`, id.code);
    ids.add(id.value);
  }
  return parsed(ids.size === 0 ? undefined : [...ids]);
}

/** Parses the statuses of a filter. */
export function parseAccountStatuses(
  unchecked: readonly AccountStatusMessage[],
): Parsed<readonly AccountStatus[] | undefined> {
  return parseWords(unchecked, ACCOUNT_STATUSES, ACCOUNT_STATUS_MESSAGES);
}
