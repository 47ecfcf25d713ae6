import type { ApprovedPayoutFile } from "../../domain/payout-file.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { RowOf } from "../../model/column.js";
import type { PAYOUT_PARTS } from "../../model/payouts.js";
import type { PayoutItem, RefusedRow } from "../../payouts/ports.js";
import type { BookKeys } from "../secrets/book-keys.js";
import { decrypt, encrypt } from "../secrets/encryption.js";
import { readPart } from "../secrets/unreadable-row.js";
import type { OpenBook } from "../sql/book-directory.js";
import { isPayoutFileAsWritten, payoutFileOf, type PayoutFileRow } from "../sql/records/payout-file-rows.js";

/** A row of `payout_parts`, as both drivers read it. */
export type PayoutPartRow = RowOf<typeof PAYOUT_PARTS, Uint8Array>;

/** The place of a part. A ciphertext is valid in this place only. */
interface PartPlace {
  readonly organizationId: OrganizationId;
  readonly rowsSha256: string;
  readonly part: number;
}

export function sealPart({ data }: Pick<BookKeys, "data">, place: PartPlace, value: unknown): Buffer {
  return encrypt(data, JSON.stringify(value), contextOf(place));
}

/** Throws an UnreadableRowError if the bytes were changed, or belong to another place. */
export function openPart({ data }: Pick<BookKeys, "data">, place: PartPlace, sealed: Uint8Array): unknown {
  return readPart(`part ${String(place.part)} of the payouts ${place.rowsSha256}`, () => {
    return JSON.parse(decrypt(data, sealed, contextOf(place)).toString("utf8")) as unknown;
  });
}

export function itemsOfPart(
  row: Pick<PayoutPartRow, "rows_sha256" | "part" | "sealed">,
  book: OpenBook,
): readonly PayoutItem[] {
  const place = { organizationId: book.organizationId, rowsSha256: row.rows_sha256, part: row.part };
  return openPart(book.keys, place, row.sealed) as readonly PayoutItem[];
}

/** Returns the file, or undefined if somebody has changed its row past the service. */
export function wholeFileOf(row: PayoutFileRow, book: OpenBook): ApprovedPayoutFile | undefined {
  return isPayoutFileAsWritten(row, book) ? payoutFileOf(row, book) : undefined;
}

export function outcomesText(refused: readonly RefusedRow[]): string {
  return JSON.stringify(refused.map(({ line, reason }) => [line, reason]));
}

/** Returns why the ledger refused rows, by their lines. */
export function refusedIn(outcomes: string | null): ReadonlyMap<number, string> {
  return readPart("outcomes of payouts", () => new Map(JSON.parse(outcomes ?? "[]") as [number, string][]));
}

function contextOf({ organizationId, rowsSha256, part }: PartPlace): string[] {
  return ["kesc-payouts", organizationId, rowsSha256, String(part)];
}
