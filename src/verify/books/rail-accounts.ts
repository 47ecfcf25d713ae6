import { createHash } from "node:crypto";

import type { RowOf } from "../../model/column.js";
import { RAIL_ACCOUNTS } from "../../model/rails.js";
import { hasTrueMac } from "../../storage/secrets/row-mac.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { jsonIn } from "../guarded.js";
import type { AuditedBook } from "./book.js";
import { ANOTHER_MAC, checkOwnHash } from "./content.js";
import type { AuditedJournalRow } from "./journal-rows.js";
import type { AuditPart } from "./part.js";
import { smallTableAudit } from "./table-audit.js";

/** The columns of `rail_accounts` that each change of an account records. */
const RECORDED = [
  "rail",
  "credentials_expire_at",
  "payouts",
  "payouts_reason",
  "is_usual",
  "begin_within_millis",
  "confirm_above_cents",
  "resolve_alone_max_cents",
  "float_min_cents",
  "revision",
] as const;

type AuditedRailAccountRow = RowOf<typeof RAIL_ACCOUNTS>;

/** What the newest row of an account says of it. */
type DetailFields = Readonly<Record<string, unknown>>;

interface Recorded {
  readonly seq: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly fields: DetailFields;
  /** The figures of each warning that stands. */
  readonly warnings: Map<string, object>;
}

/**
 * Compares each account at a rail of one book with its newest row `rail.changed` and its rows about
 * warnings, and each of those rows with an account.
 */
export function railAccountsAudit(audit: Audit, book: AuditedBook): AuditPart {
  const { secrets, findings } = book;
  const derived = new Map<string, Recorded>();
  return smallTableAudit<typeof RAIL_ACCOUNTS, Recorded>(audit, book, {
    table: "rail_accounts",
    owner: RAIL_ACCOUNTS.owner,
    derived,
    idOf: ({ id }) => id,
    follow: (row) => {
      if (row.kind.startsWith("rail.")) follow(book, row, derived);
    },
    compare: (id, recorded, account) => {
      const place: Place = { seq: recorded?.seq, table: "rail_accounts", id };
      if (!findings.isThere(place, account, "the account of rail.changed")) return;
      if (secrets !== undefined && !hasTrueMac(secrets.keys, RAIL_ACCOUNTS, account)) findings.add(place, ANOTHER_MAC);
      if (!findings.isThere(place, recorded, "a journal row that records it")) return;
      findings.compareFields(place, comparedFields(recorded, account));
    },
  });
}

function follow(book: AuditedBook, row: AuditedJournalRow, accounts: Map<string, Recorded>): void {
  const { seq, kind, recorded_at: updatedAt } = row;
  checkOwnHash(book, row);
  const fields = jsonIn("detail", row.detail, "{}") as DetailFields;
  const { id } = fields;
  if (typeof id !== "string") {
    book.findings.onRow(row, "an account at a rail in the detail", "none");
    return;
  }
  if (kind === "rail.changed") {
    const { createdAt = updatedAt, warnings = new Map<string, object>() } = accounts.get(id) ?? {};
    accounts.set(id, { seq, createdAt, updatedAt, fields, warnings });
  } else if (!warn(kind, fields, accounts)) {
    book.findings.onRow(row, "a warning about an account of the book", `${kind} ${id}`);
  }
}

/** Returns whether the row is right. Only one that stands can be cleared. */
function warn(
  kind: string,
  { id, rail, code, ...figures }: DetailFields,
  accounts: ReadonlyMap<string, Recorded>,
): boolean {
  const recorded = accounts.get(String(id));
  if (recorded?.fields["rail"] !== rail || recorded === undefined || typeof code !== "string") return false;
  if (kind !== "rail.warned") return recorded.warnings.delete(code);
  // A warning that stands already is raised again only with other figures.
  recorded.warnings.set(code, figures);
  return true;
}

/** The fields that must agree. Long texts are shown by their SHA-256. */
function comparedFields(
  { createdAt, updatedAt, fields, warnings }: Recorded,
  account: AuditedRailAccountRow,
): Readonly<Record<string, readonly [expected: unknown, found: unknown]>> {
  const { settings } = fields;
  const credentials = account.credentials === null ? null : sha256(account.credentials);
  return {
    ...Object.fromEntries(RECORDED.map((column) => [column, [fields[column] ?? null, account[column]] as const])),
    "settings with the SHA-256": [typeof settings === "string" ? sha256(settings) : "none", sha256(account.settings)],
    "credentials with the SHA-256": [fields["credentials_sha256"], credentials],
    warnings: [
      warningsText(warnings),
      warningsText(new Map(Object.entries(jsonIn("warnings", account.warnings, "{}") as object))),
    ],
    created_at: [createdAt, account.created_at],
    updated_at: [updatedAt, account.updated_at],
  };
}

/** The order of the codes does not matter. */
function warningsText(warnings: ReadonlyMap<string, unknown>): string {
  return JSON.stringify([...warnings].sort(([left], [right]) => (left < right ? -1 : 1)));
}

function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}
