import { OPERATOR } from "../../../src/domain/values/actor.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { readPayoutList } from "../../../src/payouts/read-payout-list.js";
import type { Database } from "../../../src/storage/database.js";
import { payoutFiles } from "../../../src/storage/payouts/payout-files.js";
import { payoutLists } from "../../../src/storage/payouts/payout-lists.js";
import { payFile, setPayoutList } from "../../support/operations/payouts.js";

/** A list of two to whom payouts are held, and of one name. */
export async function makePayoutList(database: Pick<Database, "cells">, organizationId: OrganizationId): Promise<void> {
  const [cell] = database.cells;
  const now = toUnixMillis(Date.now());
  const entries = await readPayoutList(Buffer.from("number,name\n0712345699,Mary Wanjiku\n5432329,\n"));
  const stored = await payoutLists(database).store({ id: organizationId, cell: cell.number }, entries, now);
  await cell.committer.commit([{ ...setPayoutList(organizationId, stored), actor: OPERATOR }], now);
}

/** A file of payouts that was stored and approved, and that nobody pays. */
export async function makePayouts(database: Pick<Database, "cells">, organizationId: OrganizationId): Promise<void> {
  const [cell] = database.cells;
  const now = toUnixMillis(Date.now());
  const approval = payFile(organizationId);
  const { sha256, rowsSha256 } = approval;
  const leftOut = { line: 3, problem: "amount: is required" };
  const organization = { id: organizationId, cell: cell.number };
  await payoutFiles(database).store(organization, { sha256, rowsSha256, preview: {}, parts: [[leftOut]] }, now);
  await cell.committer.commit([{ ...approval, actor: OPERATOR }], now);
}
