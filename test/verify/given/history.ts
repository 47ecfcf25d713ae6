import type { Account } from "../../../src/domain/account.js";
import { OPERATOR } from "../../../src/domain/values/actor.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import type { NairobiDay } from "../../../src/domain/values/nairobi-day.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { Database } from "../../../src/storage/database.js";
import { markStore } from "../../../src/storage/statements/marks.js";
import { formOf } from "../../support/bank-files.js";
import { setReservePlace, setReserveRules } from "../../support/operations/book.js";
import { recordReserve } from "../../support/record-reserve.js";

/**
 * Marks in book 2, whose row 4 is a mint of 1.00 on the account, and one place of its reserve with
 * two figures.
 */
export async function makeHistory(database: Database, organizationId: OrganizationId, { id }: Account): Promise<void> {
  const [cell] = database.cells;
  const sums = { reserve: 100, shortfall: 0, charges: 0, available: 100, held: 0, unallocated: 0 };
  await markStore(cell).save({ book: 2, seq: 4, sums, turnover: { minted: 100n, redeemed: 0n } }, [
    { seq: 4, accountId: id },
  ]);
  for (const [amount, evidence] of [
    [1_000, "statement 1"],
    [7_000, "statement 2"],
  ] as const) {
    const figure = {
      name: "recordReserve",
      place: "KCB",
      amountCents: toCents(amount),
      asOfDay: "2026-11-21" as NairobiDay,
      evidence,
      kind: "bank_kenya",
      documentSha256: "a".repeat(64),
      maturesOn: "2026-12-31" as NairobiDay,
    } as const;
    await recordReserve(cell, { organizationId, figure, now: toUnixMillis(Date.now()) });
  }
  const rules = setReserveRules(organizationId, [{ kind: "cash", shareMax: 5, staleAfterDays: 1 }]);
  const form = setReservePlace(organizationId, "KCB", { form: formOf({ account: "1" }) });
  await cell.committer.commit(
    [rules, form].map((command) => ({ ...command, actor: OPERATOR })),
    toUnixMillis(Date.now()),
  );
}
