import type { Account, AccountStatus } from "../../domain/account.js";
import type { Organization } from "../../domain/api-key.js";
import type { Deposit, DepositReason, DepositStatus } from "../../domain/deposit.js";
import type { Destination } from "../../domain/destination.js";
import type { Freeze } from "../../domain/freeze.js";
import type { TierName } from "../../domain/limits/limits.js";
import type { LimitsInForce } from "../../domain/limits/usage.js";
import type { RailReceipt } from "../../domain/payment.js";
import type { RailAccountRecord } from "../../domain/rail-account.js";
import type { Correction, Rail, Transaction, TransactionStatus, TransactionType } from "../../domain/transaction.js";
import type { Cents } from "../../domain/values/cents.js";
import type { DepositReference } from "../../domain/values/deposit-reference.js";
import type { EmailAddress } from "../../domain/values/email-address.js";
import type { AccountId, DepositId, DestinationId, OrganizationId, TransactionId } from "../../domain/values/ids.js";
import type { PhoneNumber } from "../../domain/values/phone-number.js";
import type { Metadata, Reference, UserId } from "../../domain/values/text.js";
import type { UnixMillis } from "../../domain/values/time.js";

/** A row must match all filters that are given. No filter matches every row. */
export interface AccountFilters {
  /** Has one of these ids: each stands here once, and there are few. */
  readonly accountIds?: readonly AccountId[];
  readonly userId?: UserId;
  readonly phoneNumber?: PhoneNumber;
  readonly email?: EmailAddress;
  /** Has one of these statuses. */
  readonly status?: readonly AccountStatus[];
  readonly tier?: TierName;
  readonly depositReference?: DepositReference;
  /** Created at this time or later. */
  readonly createdAfter?: UnixMillis;
  /** Created before this time. */
  readonly createdBefore?: UnixMillis;
}

export interface TransactionFilters {
  readonly accountId?: AccountId;
  readonly type?: TransactionType;
  /** Has one of these statuses. */
  readonly status?: readonly TransactionStatus[];
  readonly rail?: Rail;
  /** Is a correction of this kind. */
  readonly correction?: Correction["kind"];
  readonly reference?: Reference;
  readonly receipt?: RailReceipt;
  /** Created at this time or later. */
  readonly createdAfter?: UnixMillis;
  /** Created before this time. */
  readonly createdBefore?: UnixMillis;
  /** Of this amount or more. */
  readonly minAmountCents?: Cents;
  /** Of this amount or less. */
  readonly maxAmountCents?: Cents;
  /** Has all these pairs in its metadata, and perhaps others. */
  readonly metadata?: Metadata;
  /** Whether a person must look at it. */
  readonly needsAttention?: boolean;
}

export interface DepositFilters {
  readonly accountId?: AccountId;
  /** Has one of these statuses. */
  readonly status?: readonly DepositStatus[];
  /** Waits for one of these reasons. */
  readonly reason?: readonly DepositReason[];
  readonly receipt?: RailReceipt;
  /** Of this amount or more. */
  readonly minAmountCents?: Cents;
  /** Of this amount or less. */
  readonly maxAmountCents?: Cents;
  /** Received at this time or later. */
  readonly createdAfter?: UnixMillis;
  /** Received before this time. */
  readonly createdBefore?: UnixMillis;
}

export interface PageRequest {
  /** The maximum number of rows, at least 1. */
  readonly size: number;
  /** Only rows with a smaller `seq` than this, so older ones. Undefined for the first page. */
  readonly beforeSeq: number | undefined;
}

export interface Page<Row> {
  /**
   * Newest first. May be fewer than asked for although there are more, because a page looks at a
   * bounded number of rows.
   */
  readonly rows: readonly Row[];
  /** The `beforeSeq` of the next page. Undefined on the last page. */
  readonly nextBeforeSeq: number | undefined;
  /** The maximum number of rows that the page looked at: its cost. */
  readonly lookedAt: number;
}

/** The limits, with the time of the book's last row: no decision is made at an earlier one. */
export type ReadLimits = LimitsInForce & { readonly lastRecordedAt: UnixMillis };

/**
 * Reads the committed rows of one organization, directly from the database. Every call rejects with
 * a StoreError "unavailable" if the database fails.
 */
export interface Reads {
  organization(organizationId: OrganizationId): Promise<Organization | undefined>;
  account(organizationId: OrganizationId, id: AccountId): Promise<Account | undefined>;
  /** Undefined until the operator sets the first limits. */
  limits(organizationId: OrganizationId): Promise<ReadLimits | undefined>;
  accounts(organizationId: OrganizationId, filters: AccountFilters, page: PageRequest): Promise<Page<Account>>;
  /** The freezes of an account, those that were lifted, too. */
  freezes(organizationId: OrganizationId, id: AccountId, page: PageRequest): Promise<Page<Freeze>>;
  transaction(organizationId: OrganizationId, id: TransactionId): Promise<Transaction | undefined>;
  transactions(
    organizationId: OrganizationId,
    filters: TransactionFilters,
    page: PageRequest,
  ): Promise<Page<Transaction>>;
  deposit(organizationId: OrganizationId, id: DepositId): Promise<Deposit | undefined>;
  deposits(organizationId: OrganizationId, filters: DepositFilters, page: PageRequest): Promise<Page<Deposit>>;
  /** The accounts of the organization at rails that take deposits, by the names of the rails. */
  depositRails(organizationId: OrganizationId): Promise<readonly DepositRail[]>;
  destination(organizationId: OrganizationId, id: DestinationId): Promise<Destination | undefined>;
  /** The destinations of an account, those that were removed, too. */
  destinations(organizationId: OrganizationId, id: AccountId, page: PageRequest): Promise<Page<Destination>>;
}

/** An account at a rail that takes deposits. */
export type DepositRail = Pick<RailAccountRecord, "rail" | "settings">;
