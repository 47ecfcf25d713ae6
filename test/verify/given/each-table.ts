import type { WebhookEndpointId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { confirmRestore, markRestored } from "../../../src/storage/restores.js";
import { clearAlarm } from "../../../src/storage/seals/alarms.js";
import { NOT_COVERED } from "../../../src/verify/coverage.js";
import type { TestDatabase } from "../../support/databases.js";
import { createWebhookEndpoint } from "../../support/operations/webhooks.js";
import { givenSealer } from "../../support/seals/given-seals.js";
import { byStage, STAGE } from "../../support/stage.js";
import { GivenBooks, makeDestinations, makeTraffic } from "./books.js";
import { makeDeposits, makeReturns } from "./deposits.js";
import { makeHistory } from "./history.js";
import { makeLimits } from "./limits.js";
import { makeOperators, makePasskeys } from "./operators.js";
import { makeOrders } from "./orders.js";
import { makePayoutList, makePayouts } from "./payouts.js";
import { makeRails } from "./rails.js";

/**
 * A run makes every nth change, the first included. With Infinity it makes one change. The audit
 * reads both engines alike, so PostgreSQL has all of them at night.
 */
export const ONE_OF = byStage({
  test: { sqlite: 10, postgres: Infinity },
  check: { sqlite: 1, postgres: STAGE === "nightly" ? 1 : 4 },
});

/** Returns the entry of NOT_COVERED for a column. */
export function entryOf(column: string): string | undefined {
  const [table = ""] = column.split(".");
  return [column, table].find((entry) => Object.hasOwn(NOT_COVERED, entry));
}

/**
 * Makes rows in each table. Book 1 is that of makeTraffic. Book 2 has one account, one mint with
 * the seq 4, its reversal, an account at a rail, and the rows of makeOrders.
 */
export async function fillEachTable(database: TestDatabase["database"]): Promise<void> {
  await markRestored(database, toUnixMillis(5));
  await confirmRestore(database, toUnixMillis(6));
  await makeTraffic(await GivenBooks.open(database, "first"));
  const second = await GivenBooks.open(database, "second");
  const zoe = await second.createAccount("zoe");
  await second.reverse(await second.move("mint", zoe, "1.00"));
  await makeOrders(second, zoe);
  await makeRails(database, second.organizationId);
  const sealed = await GivenBooks.open(database, "sealed");
  await sealed.mintOften(await sealed.createAccount("sam"), 300);
  const [cell] = database.cells;
  const { store, sealer } = givenSealer(cell, { book: 3 });
  await sealer.sealAll();
  const past = { size: 5, firstSeq: 1, lastSeq: 5, problem: "a test of the alarm" };
  const book = { number: 1, organizationId: sealed.organizationId };
  await store.raise(book, past, toUnixMillis(5));
  await clearAlarm(cell, { book, person: "amina", reason: "it was a test", now: toUnixMillis(6) });
  await makeHistory(database, second.organizationId, zoe);
  // At noon of a day in the past, so that no midnight comes between two commands.
  await makeLimits(await GivenBooks.open(database, "limited", Date.UTC(2026, 0, 15, 9)));
  const depositing = await GivenBooks.open(database, "depositing");
  await makeDeposits(depositing, { facts: { accountsOfAll: "2:3", movesPlace: false } });
  await makeReturns(depositing);
  const paying = await GivenBooks.open(database, "paying out");
  await makeDestinations(paying);
  const endpoint = { newEndpointId: "whk_7" as WebhookEndpointId, actor: paying.actor };
  await cell.committer.commit([createWebhookEndpoint(paying.organizationId, endpoint)], toUnixMillis(Date.now()));
  await makePayouts(database, paying.organizationId);
  await makePayoutList(database, paying.organizationId);
  await makeOperators(database, sealed.organizationId);
  await makePasskeys(database);
}
