import type { RailAccountId } from "../../../src/domain/payment.js";
import type { Rail } from "../../../src/domain/transaction.js";
import type { Actor } from "../../../src/domain/values/actor.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { Database } from "../../../src/storage/database.js";
import { saveRailAccount } from "../../../src/storage/rails/change-rail-accounts.js";
import { railInbox } from "../../../src/storage/rails/inbox.js";
import { leases } from "../../../src/storage/rails/leases.js";
import { newTransactionId } from "../../support/names.js";
import { watchRailAccount } from "../../support/operations/rails.js";

/** An account at a rail, and a row in each table of the rails that the journal does not confirm. */
export async function makeRails(database: Database, organizationId: OrganizationId): Promise<void> {
  const [cell] = database.cells;
  const now = toUnixMillis(Date.now());
  const setting = {
    id: "rac_1" as RailAccountId,
    organizationId,
    rail: "other" as Rail,
    settings: "{}",
    credentials: "{}",
    credentialsExpireAt: undefined,
    isDefault: true,
    beginWithinMillis: 120_000,
    confirmAboveCents: 0,
    resolveAloneMaxCents: 0,
    floatMinCents: toCents(100),
    createdAt: now,
  } as const;
  await saveRailAccount(database, { setting, cell, now });
  // A warning that ended, and one that stands.
  for (const availableCents of [99, 120, 98]) {
    await cell.committer.commit(
      [
        {
          ...watchRailAccount(organizationId, { rail: setting.rail, availableCents }),
          actor: setting.rail as string as Actor,
        },
      ],
      now,
    );
  }
  await railInbox(cell).add({ transactionId: newTransactionId(), purpose: "collect", body: "{}" }, now);
  await leases(cell).take("settlement", { holder: "test", millis: 1_000 });
}
