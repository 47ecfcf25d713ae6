import type { RailRevision } from "../../../domain/decision.js";
import type { RailAccountId } from "../../../domain/payment.js";
import type { OrganizationId } from "../../../domain/values/ids.js";
import type { ColumnType } from "../engine.js";

/** A row of `rail_accounts`, as both drivers read it. */
export interface RailAccountRow<Bytes = Buffer> {
  readonly id: string;
  readonly organization_id: string;
  readonly rail: string;
  /** A JSON object without secrets. Each rail has fields of its own. */
  readonly settings: string;
  /** An encrypted JSON object. Null for a rail that needs none. */
  readonly credentials: Bytes | null;
  readonly credentials_expire_at: number | null;
  readonly payouts: string;
  readonly payouts_reason: string;
  /** 0 or 1. */
  readonly is_usual: number;
  readonly begin_within_millis: number;
  readonly confirm_above_cents: number;
  readonly resolve_alone_max_cents: number;
  /** How many rows of the journal are about the account. */
  readonly revision: number;
  /** A JSON text. Null until the rail has told a balance. */
  readonly balance: string | null;
  readonly balance_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
}

/** The columns of `rail_accounts` that a batch reads. */
export type RailRevisionRow = Pick<RailAccountRow, "id" | "organization_id" | "revision">;

export function railRevisionOf({ id, organization_id: organizationId, revision }: RailRevisionRow): RailRevision {
  return { railAccountId: id as RailAccountId, organizationId: organizationId as OrganizationId, revision };
}

/** The columns that a change of an account sets. */
export const RAIL_ACCOUNT_CHANGES = {
  id: "text",
  settings: "text",
  credentials: "bytes",
  credentials_expire_at: "int64",
  payouts: "text",
  payouts_reason: "text",
  is_usual: "int64",
  begin_within_millis: "int64",
  confirm_above_cents: "int64",
  resolve_alone_max_cents: "int64",
  revision: "int64",
  updated_at: "int64",
} as const satisfies Partial<Record<keyof RailAccountRow, ColumnType>>;

/** The columns of a new account. */
export const RAIL_ACCOUNT_COLUMNS = {
  organization_id: "text",
  rail: "text",
  created_at: "int64",
  ...RAIL_ACCOUNT_CHANGES,
} as const satisfies Partial<Record<keyof RailAccountRow, ColumnType>>;
