import type { JournalKind } from "../../domain/journal.js";
import type { Actor } from "../../domain/values/actor.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { StatusReason } from "../../domain/values/text.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { ActsPage, OwnAct } from "../../operators/ports.js";
import type { Cell } from "../database.js";
import { orStoreError } from "../sql/store-error.js";

interface OwnActRow {
  readonly seq: number;
  readonly kind: string;
  readonly actor: string;
  readonly reason: string;
  readonly recorded_at: number;
  readonly key_id: string | null;
}

/** Returns the rows of a book about the organization itself, newest first. */
export async function ownActs(
  { engine, reader }: Pick<Cell, "engine"> & { readonly reader: Pick<Cell["reader"], "rows"> },
  organizationId: OrganizationId,
  { size, beforeSeq = Number.MAX_SAFE_INTEGER }: ActsPage,
): Promise<readonly OwnAct[]> {
  const rows = await orStoreError(
    engine,
    reader.rows<OwnActRow>(ownActsSql(engine), [organizationId, beforeSeq, size]),
  );
  return rows.map((row) => ({
    seq: row.seq,
    kind: row.kind as JournalKind,
    actor: row.actor as Actor,
    reason: row.reason as StatusReason,
    keyId: row.key_id ?? undefined,
    recordedAt: toUnixMillis(row.recorded_at),
  }));
}

/** The index holds only rows without an account, and each engine uses it for such rows alone. */
export function ownActsSql({ table, indexedBy }: Pick<Cell["engine"], "table" | "indexedBy">): string {
  return `
    SELECT j.seq, j.kind, j.actor, j.reason, j.recorded_at, (
      SELECT k.id FROM ${table("api_keys")} k
      WHERE k.organization_id = b.organization_id AND (k.seq = j.seq OR k.revoked_seq = j.seq)
    ) AS key_id
    FROM ${table("books")} b JOIN ${table("journal")} j${indexedBy("journal_own_rows")} ON j.book = b.number
    WHERE b.organization_id = ? AND j.account_id IS NULL AND j.seq < ?
    ORDER BY j.seq DESC LIMIT ?`;
}
