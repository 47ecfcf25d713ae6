import { bytes, changed, due, int64, orNull, type TableModel, text } from "./column.js";

/** The rows of the journal about endpoints. The `detail` of each is the endpoint's id. */
export const ROWS_OF_ENDPOINTS = `kind IN (
    'webhook_endpoint.created', 'webhook_endpoint.updated', 'webhook_endpoint.disabled', 'webhook_endpoint.deleted')`;

export const WEBHOOK_ENDPOINTS = {
  owner: { of: "organization", column: "organization_id" },
  key: ["id"],
  // What people decide. Deliveries change the other columns all the time.
  bound: [
    "id",
    "organization_id",
    "url",
    "secrets",
    "description",
    "types",
    "status",
    "disabled_reason",
    "changed_seq",
    "created_at",
    "updated_at",
  ],
  columns: {
    id: text,
    organization_id: text,
    /** Encrypted. Null for a deleted endpoint. */
    url: changed(orNull(bytes)),
    /** An encrypted JSON array. Null for a deleted endpoint. */
    secrets: changed(orNull(bytes)),
    description: changed(text),
    /** A JSON array. Null for all. */
    types: changed(orNull(text)),
    status: changed(text),
    disabled_reason: changed(orNull(text)),
    revision: changed(int64),
    settled_seq: changed(int64),
    replay_seq: changed(orNull(int64)),
    replay_until_seq: changed(orNull(int64)),
    failures: changed(int64),
    failing_since: changed(orNull(int64)),
    probe_at: due(changed(orNull(int64))),
    retry_at: due(changed(orNull(int64))),
    /** The number of attempts that were ever logged. */
    logged: changed(int64),
    /** The `seq` of the newest row of the journal about the endpoint. */
    changed_seq: changed(int64),
    created_at: int64,
    updated_at: changed(int64),
    mac: changed(bytes),
  },
} as const satisfies TableModel;

export const WEBHOOK_RETRIES = {
  owner: { of: "endpoint", column: "endpoint_id" },
  key: ["endpoint_id", "seq"],
  isDeletedFrom: true,
  columns: {
    endpoint_id: text,
    seq: int64,
    tries: changed(int64),
    /** Null once the event is given up. */
    next_at: due(changed(orNull(int64))),
    last_code: changed(orNull(int64)),
    last_problem: changed(orNull(text)),
    last_at: changed(orNull(int64)),
    last_millis: changed(orNull(int64)),
  },
} as const satisfies TableModel;

export const WEBHOOK_LOG = {
  owner: { of: "endpoint", column: "endpoint_id" },
  key: ["endpoint_id", "number"],
  isDeletedFrom: true,
  columns: {
    endpoint_id: text,
    /** The attempts of an endpoint have the numbers 1, 2, 3 and so on. */
    number: int64,
    seq: int64,
    tries: int64,
    code: int64,
    /** Empty if the attempt succeeded. */
    problem: text,
    at: int64,
    millis: int64,
  },
} as const satisfies TableModel;
