import type { Organization } from "../domain/api-key.js";
import type { ApprovedBankFile, BankFileId } from "../domain/bank-file.js";
import type { BankNumber, DestinationKind } from "../domain/destination.js";
import type { TierName } from "../domain/limits/limits.js";
import type { Usage } from "../domain/limits/usage.js";
import type { RailAccountId } from "../domain/payment.js";
import type { ApprovedPayoutFile, PayoutRow } from "../domain/payout-file.js";
import type { PayoutList, StandingPayoutList } from "../domain/payout-list.js";
import type { Transaction } from "../domain/transaction.js";
import type { Cents } from "../domain/values/cents.js";
import type { AccountId, DestinationId, OrganizationId, TransactionId } from "../domain/values/ids.js";
import type { Reference, UserId } from "../domain/values/text.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { ListedEntry } from "./read-payout-list.js";

/** A row with an error, which is not paid. The words name the field, and hold no number. */
export interface LeftOutRow {
  readonly line: number;
  readonly problem: string;
}

/** What a part of a file has: rows that are paid, then rows that are left out. */
export type PayoutItem = PayoutRow | LeftOutRow;

export function isLeftOut(item: PayoutItem): item is LeftOutRow {
  return "problem" in item;
}

/** The rows of one part at most. One commit of its outcomes covers them. */
export const PART_ROWS = 1_000;

/** Why the ledger refused a row, in words. */
export interface RefusedRow {
  readonly line: number;
  readonly reason: string;
}

/** A part of an approved file that has not run to its end. */
export interface OpenPart {
  readonly file: ApprovedPayoutFile;
  /** 1 and more. */
  readonly part: number;
  readonly items: readonly PayoutItem[];
}

/** The files as the runner uses them. Each call rejects with a StoreError if the database fails. */
export interface PayoutStore {
  /** The next part of each approved file that has one. A file that was changed has none. */
  open(): Promise<readonly OpenPart[]>;
  /** Notes that each row of the part is decided. */
  finish(part: OpenPart, refused: readonly RefusedRow[]): Promise<void>;
  /** Deletes the parts that were stored before this time, of files that nobody has approved. */
  removeUnapproved(before: UnixMillis): Promise<void>;
}

/** A file that was stored, with what its parts say. */
export interface StoredPayouts {
  readonly sha256: string;
  readonly rowsSha256: string;
  /** Undefined until it is approved. */
  readonly approved: ApprovedPayoutFile | undefined;
  /** The items of the parts that have run, and the rows that the ledger refused. */
  readonly decidedParts: number;
  readonly refused: number;
  readonly parts: number;
  /** What the persons see, as it was when the file was proposed. */
  readonly preview: unknown;
}

/** A page of the items of a file. */
export interface ItemsPage {
  readonly items: readonly {
    readonly item: PayoutItem;
    readonly refused: string | undefined;
    readonly transaction: Transaction | undefined;
  }[];
  readonly hasMore: boolean;
}

/** The rows of a part. What is in no other count waits. */
export interface PartCounts {
  readonly items: number;
  readonly leftOut: number;
  readonly refused: number;
  /** The redemptions of rows that were not refused, by their status. */
  readonly made: ReadonlyMap<Transaction["status"], number>;
}

/** The organization whose files they are, with its cell. */
export type PayoutOwner = Pick<Organization, "id" | "cell">;

/** What operators read and store of files. */
export interface PayoutFiles {
  /** Stores what a command `payFile` is about, before the ledger gets it. A repeat is no change. */
  store(organization: PayoutOwner, file: FileToStore, now: UnixMillis): Promise<void>;
  /** The approved file with this SHA-256, or else the newest that was stored. */
  file(organization: PayoutOwner, sha256: string): Promise<StoredPayouts | undefined>;
  /** The approved files, newest first: those that were approved in a row before `beforeSeq`. */
  approved(
    organization: PayoutOwner,
    page: { readonly size: number; readonly beforeSeq: number | undefined },
  ): Promise<readonly (StoredPayouts & { readonly seq: number })[]>;
  /** The approved files whose rows are not all decided, oldest first: at most 100. */
  running(organization: PayoutOwner): Promise<readonly StoredPayouts[]>;
  /** The rows of a part by what became of them. */
  counts(organization: PayoutOwner, file: StoredPayouts, part: number): Promise<PartCounts>;
  /** The items of a file from this one on. */
  items(
    organization: PayoutOwner,
    file: StoredPayouts,
    page: { readonly from: number; readonly size: number },
  ): Promise<ItemsPage>;
  accounts(organization: PayoutOwner, names: AccountNames): Promise<readonly PayoutAccount[]>;
  /** The redemptions of the accounts since then that did not fail. */
  recent(
    organization: PayoutOwner,
    accountIds: readonly AccountId[],
    since: UnixMillis,
  ): Promise<readonly RecentPayout[]>;
}

export interface FileToStore {
  readonly sha256: string;
  readonly rowsSha256: string;
  readonly preview: unknown;
  readonly parts: readonly (readonly PayoutItem[])[];
}

/** At most 500 of both together. */
export interface AccountNames {
  readonly accountIds: readonly AccountId[];
  readonly userIds: readonly UserId[];
}

/** An account as far as a payout needs it. */
export interface PayoutAccount {
  readonly id: AccountId;
  readonly organizationId: OrganizationId;
  readonly userId: UserId | undefined;
  readonly availableCents: number;
  readonly tier: TierName;
  readonly usage: Usage | undefined;
  readonly phoneNumber: string | undefined;
  /** Those that are not removed. */
  readonly destinations: readonly PayoutDestination[];
}

export interface PayoutDestination {
  readonly id: DestinationId;
  readonly kind: DestinationKind;
  readonly number: string;
  /** Whether the rail calls it something else than its label does. */
  readonly hasOtherName?: boolean | undefined;
}

export interface RecentPayout {
  readonly id: TransactionId;
  readonly accountId: AccountId;
  readonly destinationId: DestinationId | undefined;
  readonly amountCents: number;
  readonly reference: Reference;
  readonly createdAt: UnixMillis;
}

/** A list that was stored, as a command `setPayoutList` is about it. */
export interface StoredPayoutList extends PayoutList {
  /** The text of the list that stands, to which it was compared. Empty if there is none. */
  readonly replaces: string;
  /** The number of entries of that list which are not in this one. */
  readonly ended: number;
}

/** The lists of those to whom payouts are held. */
export interface PayoutLists {
  /** The list that holds. */
  standing(organization: PayoutOwner): Promise<StandingPayoutList | undefined>;
  /** Whether the entries of the list that holds are as the service wrote them, or there is none. */
  isWhole(organization: PayoutOwner): Promise<boolean>;
  /** Stores the entries before the ledger gets the command. A repeat is no change. */
  store(organization: PayoutOwner, entries: readonly ListedEntry[], now: UnixMillis): Promise<StoredPayoutList>;
}

/** A payment to an account at a bank. */
export interface PaymentToBank {
  readonly transactionId: TransactionId;
  readonly amountCents: Cents;
  /** Undefined if somebody has changed its row past the service. */
  readonly number: BankNumber | undefined;
  /** When the transaction was accepted, by the book. It never changes. */
  readonly acceptedAt: UnixMillis;
}

/** A payment file with what the book says of it by now. */
export interface ListedBankFile extends ApprovedBankFile {
  /** That of the row which approved it. */
  readonly seq: number;
  readonly approvedAt: UnixMillis;
  readonly downloads: number;
  /** The number of its payments whose outcome is open. */
  readonly openPayments: number;
}

/** What operators read of payments to banks, and of the files that have them. */
export interface BankPayments {
  /** The payments that wait for a file, oldest first, without those of frozen accounts. */
  waiting(organization: PayoutOwner, railAccountId: RailAccountId, limit: number): Promise<readonly PaymentToBank[]>;
  /** The payments of a file that have not ended. */
  inFile(organization: PayoutOwner, railAccountId: RailAccountId, id: BankFileId): Promise<readonly PaymentToBank[]>;
  /** The approved file. Undefined if there is none. */
  file(organization: PayoutOwner, id: BankFileId): Promise<ListedBankFile | undefined>;
  /** The approved files, newest first: those that were approved in a row before `beforeSeq`. */
  files(
    organization: PayoutOwner,
    page: { readonly size: number; readonly beforeSeq: number | undefined },
  ): Promise<readonly ListedBankFile[]>;
}
