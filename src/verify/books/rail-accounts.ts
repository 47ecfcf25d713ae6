import { createHash } from "node:crypto";

import { RAIL_ACCOUNTS } from "../../model/rails.js";
import { hasTrueMac } from "../../storage/secrets/row-mac.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { guarded, jsonIn } from "../guarded.js";
import type { AuditedBook } from "./book.js";
import { ANOTHER_MAC, checkOwnHash } from "./content.js";
import { type AuditedJournalRow, newerRowsUpTo } from "./journal-rows.js";

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

/** A row of `rail_accounts`, without its balance. */
type AuditedRailAccountRow = Readonly<Record<(typeof RECORDED)[number], string | number | null>> & {
  readonly id: string;
  readonly settings: string;
  readonly credentials: Uint8Array | null;
  readonly mac: Uint8Array | null;
  readonly warnings: string;
  readonly created_at: number;
  readonly updated_at: number;
  /** The last row of the book at the moment in which the account was read. */
  readonly book_seq: number;
};

/** What rows from before a column existed mean. */
const BEFORE: Readonly<Record<string, unknown>> = { float_min_cents: 0 };

/** What the newest row of an account says of it. */
type DetailFields = Readonly<Record<string, unknown>>;

interface Recorded {
  readonly seq: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly fields: DetailFields;
}

/**
 * Compares each account at a rail of one book with its newest row `rail.changed` and its rows about
 * warnings, and each of those rows with an account.
 */
export class RailAccountsAudit {
  readonly table = "rail_accounts";
  readonly #audit: Audit;
  readonly #book: AuditedBook;
  readonly #recorded = new Map<string, Recorded>();
  /** By the id of the account: the figures of each warning that stands. */
  readonly #warnings = new Map<string, Map<string, object>>();

  constructor(audit: Audit, book: AuditedBook) {
    this.#audit = audit;
    this.#book = book;
  }

  /** Takes the rows of the book in the order of `seq`. */
  row(row: AuditedJournalRow): void {
    if (row.kind.startsWith("rail.")) this.#follow(row);
  }

  /** Called once, after the last row. */
  async end(): Promise<void> {
    const accounts = await this.#accounts();
    const bookSeq = accounts[0]?.book_seq ?? 0;
    const { row: book, secrets, findings } = this.#book;
    for await (const row of newerRowsUpTo(this.#audit, book, bookSeq)) this.row(row);
    for (const account of accounts) {
      const recorded = this.#recorded.get(account.id);
      this.#recorded.delete(account.id);
      const place = { seq: recorded?.seq, table: "rail_accounts", id: account.id } as const;
      guarded(findings, place, () => {
        const bound = { ...account, organization_id: book.organization_id };
        if (secrets !== undefined && !hasTrueMac(secrets.keys, RAIL_ACCOUNTS, bound)) findings.add(place, ANOTHER_MAC);
        if (recorded === undefined) findings.add(place, { expected: "a journal row that records it", found: "none" });
        else findings.compareFields(place, comparedFields(recorded, account, this.#warnings.get(account.id)));
      });
    }
    for (const [id, { seq }] of this.#recorded) {
      findings.add({ seq, table: "rail_accounts", id }, { expected: "the account of rail.changed", found: "none" });
    }
  }

  #follow(row: AuditedJournalRow): void {
    const { findings } = this.#book;
    const { seq, recorded_at: updatedAt } = row;
    const place = { seq, table: "journal", id: undefined } as const;
    checkOwnHash(this.#book, row);
    const fields = jsonIn("detail", row.detail, "{}") as DetailFields;
    const { id } = fields;
    if (typeof id !== "string") {
      findings.add(place, { expected: "an account at a rail in the detail", found: "none" });
      return;
    }
    if (row.kind !== "rail.changed") {
      this.#warn(place, id, { kind: row.kind, fields });
      return;
    }
    const createdAt = this.#recorded.get(id)?.createdAt ?? updatedAt;
    this.#recorded.set(id, { seq, createdAt, updatedAt, fields });
  }

  /** A warning that stands already is raised again only with other figures. */
  #warn(place: Place, id: string, { kind, fields }: { readonly kind: string; readonly fields: DetailFields }): void {
    const { id: about, rail, code, ...figures } = fields;
    const standing = this.#warnings.get(id) ?? new Map<string, object>();
    const recorded = this.#recorded.get(id);
    const isKnown = about === id && recorded?.fields["rail"] === rail && typeof code === "string";
    const isRight = kind === "rail.warned" || standing.has(String(code));
    if (!isKnown || !isRight) {
      this.#book.findings.add(place, { expected: "a warning about an account of the book", found: `${kind} ${id}` });
      return;
    }
    if (kind === "rail.warned") standing.set(code, figures);
    else standing.delete(code);
    this.#warnings.set(id, standing);
  }

  /** One statement reads all accounts and the last row of the book, so all are of one moment. */
  #accounts(): Promise<readonly AuditedRailAccountRow[]> {
    const { engine, rows } = this.#audit;
    const { number, organization_id: organizationId } = this.#book.row;
    const head = `(SELECT COALESCE(MAX(j.seq), 0) FROM ${engine.table("journal")} j WHERE j.book = ?)`;
    return rows<AuditedRailAccountRow>(
      `SELECT a.id, a.settings, a.credentials, a.mac, a.warnings, a.created_at, a.updated_at,
         ${RECORDED.map((column) => `a.${column}`).join(", ")}, ${head} AS book_seq
       FROM ${engine.table("rail_accounts")} a WHERE a.organization_id = ?`,
      [number, organizationId],
    );
  }
}

/** The fields that must agree. Long texts are shown by their SHA-256. */
function comparedFields(
  { createdAt, updatedAt, fields }: Recorded,
  account: AuditedRailAccountRow,
  warnings: ReadonlyMap<string, object> | undefined,
): Readonly<Record<string, readonly [expected: unknown, found: unknown]>> {
  const { settings } = fields;
  const credentials = account.credentials === null ? null : sha256(account.credentials);
  return {
    ...Object.fromEntries(
      RECORDED.map((column) => [column, [fields[column] ?? BEFORE[column] ?? null, account[column]] as const]),
    ),
    "settings with the SHA-256": [typeof settings === "string" ? sha256(settings) : "none", sha256(account.settings)],
    "credentials with the SHA-256": [fields["credentials_sha256"], credentials],
    warnings: [
      warningsText(warnings ?? new Map()),
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
