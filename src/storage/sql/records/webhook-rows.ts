import type { ColumnType } from "../engine.js";

/** A row of `webhook_endpoints`, as both drivers read it. */
export interface EndpointRow<Bytes = Uint8Array> {
  readonly id: string;
  readonly organization_id: string;
  /** Encrypted. Null for a deleted endpoint. */
  readonly url: Bytes | null;
  /** An encrypted JSON array. Null for a deleted endpoint. */
  readonly secrets: Bytes | null;
  readonly description: string;
  /** A JSON array. Null for all. */
  readonly types: string | null;
  readonly status: string;
  readonly disabled_reason: string | null;
  readonly revision: number;
  readonly settled_seq: number;
  readonly replay_seq: number | null;
  readonly replay_until_seq: number | null;
  readonly failures: number;
  readonly failing_since: number | null;
  readonly probe_at: number | null;
  readonly retry_at: number | null;
  /** The number of attempts that were ever logged. */
  readonly logged: number;
  readonly created_at: number;
  readonly updated_at: number;
}

/** The columns that change. */
export const ENDPOINT_CHANGES = {
  id: "text",
  url: "bytes",
  secrets: "bytes",
  description: "text",
  types: "text",
  status: "text",
  disabled_reason: "text",
  revision: "int64",
  settled_seq: "int64",
  replay_seq: "int64",
  replay_until_seq: "int64",
  failures: "int64",
  failing_since: "int64",
  probe_at: "int64",
  retry_at: "int64",
  logged: "int64",
  updated_at: "int64",
} as const satisfies Partial<Record<keyof EndpointRow, ColumnType>>;

export const ENDPOINT_COLUMNS = {
  organization_id: "text",
  created_at: "int64",
  ...ENDPOINT_CHANGES,
} as const satisfies Record<keyof EndpointRow, ColumnType>;

/** A row of `webhook_retries`. */
export interface RetryRow {
  readonly endpoint_id: string;
  readonly seq: number;
  readonly tries: number;
  /** Null once the event is given up. */
  readonly next_at: number | null;
  readonly last_code: number | null;
  readonly last_problem: string | null;
  readonly last_at: number | null;
  readonly last_millis: number | null;
}

/** The columns that an upsert changes, with a part of the key. */
export const RETRY_CHANGES = {
  seq: "int64",
  tries: "int64",
  next_at: "int64",
  last_code: "int64",
  last_problem: "text",
  last_at: "int64",
  last_millis: "int64",
} as const satisfies Partial<Record<keyof RetryRow, ColumnType>>;

export const RETRY_COLUMNS = { endpoint_id: "text", ...RETRY_CHANGES } as const satisfies Record<
  keyof RetryRow,
  ColumnType
>;

/** A row of `webhook_log`. */
export interface LogRow {
  readonly endpoint_id: string;
  /** The attempts of an endpoint have the numbers 1, 2, 3 and so on. */
  readonly number: number;
  readonly seq: number;
  readonly tries: number;
  readonly code: number;
  /** Empty if the attempt succeeded. */
  readonly problem: string;
  readonly at: number;
  readonly millis: number;
}

export const LOG_COLUMNS = {
  endpoint_id: "text",
  number: "int64",
  seq: "int64",
  tries: "int64",
  code: "int64",
  problem: "text",
  at: "int64",
  millis: "int64",
} as const satisfies Record<keyof LogRow, ColumnType>;
