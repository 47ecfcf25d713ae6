import type { OrganizationId } from "../../domain/values/ids.js";
import type { StatusReason } from "../../domain/values/text.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Cell } from "../database.js";
import type { Columns } from "../sql/engine.js";
import { orStoreError } from "../sql/store-error.js";
import type { Authorship } from "./authorship.js";
import { bookRowWrites, lockBook } from "./book-rows.js";

const SUSPENSION_COLUMNS = { number: "int64", suspended_seq: "int64" } as const satisfies Columns;

export interface SuspensionChange {
  readonly organizationId: OrganizationId;
  /** Whether the organization shall be suspended. Otherwise it shall be resumed. */
  readonly isSuspended: boolean;
  readonly reason: StatusReason;
  readonly now: UnixMillis;
  readonly author?: Authorship;
}

/**
 * Suspends or resumes an organization, with a row in its book. Running servers obey from their next
 * batch on. Returns false if the organization is so already. Then nothing is written.
 */
export function changeSuspension(
  cell: Cell,
  { organizationId, isSuspended, reason, now, author }: SuspensionChange,
): Promise<boolean> {
  const { table, update } = cell.engine;
  return orStoreError(
    cell.engine,
    cell.transact(async (session) => {
      await author?.first?.(session);
      const book = await lockBook(cell, session, { organizationId, now, evenBehind: true });
      if (book.isSuspended === isSuspended) return false;
      const kind = isSuspended ? "organization.suspended" : "organization.resumed";
      await session.write([
        ...bookRowWrites(cell, book, { kind, reason, created: [reason], actor: author?.actor }),
        {
          sql: update(table("books"), { key: "number", columns: SUSPENSION_COLUMNS }),
          rows: [{ number: book.number, suspended_seq: isSuspended ? book.nextSeq : null }],
        },
      ]);
      return true;
    }),
  );
}
