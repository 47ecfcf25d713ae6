import { bytes, changed, int64, orNull, type TableModel, text } from "./column.js";

export const LEASES = {
  owner: { of: "database" },
  key: ["name"],
  columns: {
    name: text,
    fence: changed(int64),
    holder: changed(text),
    until: changed(int64),
  },
} as const satisfies TableModel;

export const BOOK_MOVES = {
  owner: { of: "database" },
  key: ["book"],
  columns: {
    book: int64,
    arrival_id: orNull(text),
    changed_at: int64,
    file_sha256: orNull(text),
    move_id: text,
    moved_to: orNull(text),
    phase: text,
    root: orNull(text),
    rows_done: int64,
  },
} as const satisfies TableModel;

export const OPERATOR_ACTS = {
  owner: { of: "database" },
  key: ["seq"],
  isAppendOnly: true,
  columns: {
    seq: int64,
    actor: text,
    key_sha256: orNull(text),
    kind: text,
    name: orNull(text),
    operator_id: text,
    passkey_sha256: orNull(text),
    recorded_at: int64,
    roles: orNull(text),
  },
} as const satisfies TableModel;

export const OPERATOR_PROPOSALS = {
  owner: { of: "database" },
  key: ["id"],
  isAppendOnly: true,
  columns: {
    id: text,
    content: text,
    expires_at: int64,
    proposed_at: int64,
    proposed_by: text,
  },
} as const satisfies TableModel;

export const OPERATOR_DECISIONS = {
  owner: { of: "database" },
  key: ["proposal_id"],
  isAppendOnly: true,
  columns: {
    proposal_id: text,
    decided_at: int64,
    decided_by: text,
    decision: text,
  },
} as const satisfies TableModel;

export const OPERATOR_KEYS = {
  owner: { of: "database" },
  key: ["id"],
  columns: {
    id: int64,
    chain_key: bytes,
    master_key_id: text,
  },
} as const satisfies TableModel;

export const OPERATOR_CHAIN = {
  owner: { of: "database" },
  key: ["seq"],
  isAppendOnly: true,
  columns: {
    seq: int64,
    mac: bytes,
    subject: text,
  },
} as const satisfies TableModel;

export const PASSKEYS = {
  owner: { of: "database" },
  key: ["sha256"],
  isDeletedFrom: true,
  columns: {
    sha256: text,
    created_at: int64,
    credential_id: text,
    public_key: bytes,
  },
} as const satisfies TableModel;

export const RESTORES = {
  owner: { of: "database" },
  key: ["restored_at"],
  columns: {
    restored_at: int64,
    confirmed_at: orNull(int64),
  },
} as const satisfies TableModel;

export const SESSIONS = {
  owner: { of: "database" },
  key: ["id"],
  isDeletedFrom: true,
  columns: {
    id: text,
    began_with: text,
    created_at: int64,
    mac: changed(bytes),
    operator_id: text,
    token_sha256: text,
    used_at: changed(int64),
    verified_at: changed(orNull(int64)),
  },
} as const satisfies TableModel;

export const SIGN_IN_TOKENS = {
  owner: { of: "database" },
  key: ["token_sha256"],
  isDeletedFrom: true,
  columns: {
    token_sha256: text,
    content: text,
    created_at: int64,
    expires_at: int64,
    kind: text,
    mac: bytes,
  },
} as const satisfies TableModel;
