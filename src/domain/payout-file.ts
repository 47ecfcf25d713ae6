import type { Rail } from "./transaction.js";
import type { Actor } from "./values/actor.js";
import type { Cents } from "./values/cents.js";
import type { AccountId, DestinationId, OrganizationId } from "./values/ids.js";
import type { Description, Metadata, Reference } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";

/** What a file of payouts would pay. It has no personal data. */
export interface PayoutFile {
  readonly organizationId: OrganizationId;
  /** The SHA-256 of the file, in hexadecimal. A book pays each file once. */
  readonly sha256: string;
  /** The SHA-256 of the rows as the server has read them. They are stored under it. */
  readonly rowsSha256: string;
  /** The rail that pays all of the rows. Never the direct one, which pays nobody. */
  readonly rail: Rail;
  /** The number of rows that are paid, and their sum. */
  readonly rows: number;
  readonly amountCents: Cents;
  /** The number of rows with an error, which are not paid. */
  readonly leftOut: number;
}

export interface ApprovedPayoutFile extends PayoutFile {
  readonly approvedAt: UnixMillis;
  /** Who has proposed the file, and who has approved it, if another person did. */
  readonly approvedBy: Actor;
  /** When a person has stopped it. Undefined if nobody has. */
  readonly stoppedAt: UnixMillis | undefined;
}

/** A row of a file. It names the account and the destination by their ids, and no number. */
export interface PayoutRow {
  /** The line of the file. */
  readonly line: number;
  readonly accountId: AccountId;
  readonly amountCents: Cents;
  readonly reference: Reference;
  readonly description: Description;
  readonly destinationId: DestinationId | undefined;
}

/** The most rows of one file. */
export const PAYOUT_ROWS_MAX = 50_000;

const REFERENCE_DIGITS = 32;

/**
 * Returns the reference of a row whose file gives none. The service alone gives such references, so
 * no other transaction has it.
 */
export function payoutReference(sha256: string, line: number): Reference {
  return `kesc:payout:${sha256.slice(0, REFERENCE_DIGITS)}:${String(line)}` as Reference;
}

const OF_FILE = "payout_file";

/**
 * Returns the metadata of a row's redemption. A repeat is compared with it, so the redemption of
 * somebody else is never taken for that of the row.
 */
export function payoutMetadata(sha256: string, line: number): Metadata {
  return new Map([
    [OF_FILE, sha256],
    ["payout_row", String(line)],
  ]) as ReadonlyMap<string, string> as Metadata;
}

/** Returns the file of which the transaction pays a row, if it says so. */
export function payoutFileIn(metadata: Metadata): string | undefined {
  return metadata.get(OF_FILE);
}

/** The detail of the journal row that approves a file. */
export function detailOfPayouts({ sha256, rowsSha256, rail, rows, amountCents, leftOut }: PayoutFile): string {
  return JSON.stringify([sha256, rowsSha256, rail, rows, amountCents, leftOut]);
}
