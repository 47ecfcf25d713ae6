import { expect } from "chai";

import type { Command } from "../../src/domain/operations.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { NairobiDay } from "../../src/domain/values/nairobi-day.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { AdminServiceService as Rpcs, BookState } from "../../src/gen/kesc/admin/v1/admin_service.js";
import type { GetSupplyResponse } from "../../src/gen/kesc/v1/book_service.js";
import { FlagReason } from "../../src/gen/kesc/v1/payment.js";
import { keys } from "../../src/storage/keys.js";
import { DEFAULT_LIMITS, saveRailAccount } from "../../src/storage/rails/change-rail-accounts.js";
import { clearAlarm } from "../../src/storage/seals/alarms.js";
import { sealStore } from "../../src/storage/seals/seal-store.js";
import type { GrpcCaller } from "../support/callers/grpc-caller.js";
import { ENGINES, execute } from "../support/databases.js";
import { RAIL_TERMS, SLOW_RAIL } from "../support/names.js";
import { createAccount } from "../support/operations/accounts.js";
import { receiveDeposit } from "../support/operations/deposits.js";
import { setPayouts } from "../support/operations/rails.js";
import { flag, mint } from "../support/operations/transactions.js";
import { recordReserve } from "../support/record-reserve.js";
import { sealBooks } from "../support/seals/given-seals.js";
import { makeTenant } from "../support/service/tenants.js";
import { changeSuspension } from "../support/suspend.js";
import { actAs, type GivenOperator, type OperatorService, pagesOf, startOperatorService, textOf } from "./given.js";

const FLAGGED = 3;
const now = () => toUnixMillis(Date.now());

/** Returns a message without the times that the moment of the call decides. */
const ageless = (message: unknown): string => textOf(message).replaceAll(/"age_seconds":"?\d+"?,?/g, "");

for (const engine of ENGINES) {
  describe(`what operators read of books (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    let vera: GivenOperator;
    let organization_id: string;
    let waiting: readonly string[];
    let flagged: readonly string[];

    before(async () => {
      service = await startOperatorService(engine);
      [admin] = service.admin;
      vera = await service.operator("Vera", "viewer");
      const { organizationId } = service.tenant;
      organization_id = organizationId;
      const commit = (...commands: Command[]) => service.opened.cell.committer.commit(commands, now());
      const account = createAccount(organizationId, "amina");
      await commit(account);
      const movement = { organizationId, accountId: account.newAccountId, amount: "10.00" };
      const orders = Array.from({ length: FLAGGED }, (_, index) =>
        mint({ ...movement, reference: `order ${String(index)}`, rail: SLOW_RAIL }),
      );
      await commit(mint({ ...movement, reference: "direct" }), ...orders);
      const ids = orders.map(({ newTransactionId: id }) => id);
      await commit(...ids.map((id) => flag(organizationId, id)));
      flagged = ids.toReversed();
      const deposits = ["d1", "d2"].map((receipt) => receiveDeposit(organizationId, { receipt }));
      await commit(...deposits);
      const { opened } = service;
      const own = { id: RAIL_TERMS.railAccountId, organizationId, rail: SLOW_RAIL, isDefault: false };
      const none = { settings: "{}", credentials: undefined, credentialsExpireAt: undefined };
      const setting = { ...own, ...none, ...DEFAULT_LIMITS };
      await saveRailAccount(opened.database, { setting, cell: opened.cell, now: now() });
      await commit(setPayouts(organizationId, "closed"));
      waiting = deposits.map(({ newDepositId: id }) => id).toReversed();
    });
    // Rejects if the books do not hold.
    after(() => service.dispose());

    for (const page_size of [1, 2, FLAGGED, FLAGGED + 1, 100]) {
      it(`lists what waits for a person, each kind newest first, ${String(page_size)} on a page`, async () => {
        const pages = await pagesOf((page_token) =>
          admin.call(Rpcs.listNeedsAttention, { organization_id, page_size, page_token }, vera),
        );
        const ids = pages.map(({ transactions, deposits }) => [...transactions, ...deposits].map(({ id }) => id));
        expect(Math.max(...ids.map(({ length }) => length))).to.be.at.most(page_size);
        expect(ids.flat()).to.deep.equal([...flagged, ...waiting]);
        for (const [index, { transactions, flags, held_rail_accounts: held }] of pages.entries()) {
          expect(held.map(({ rail, warnings }) => [rail, warnings])).to.deep.equal(
            index === 0 ? [[SLOW_RAIL, ["PAYOUTS_HELD"]]] : [],
          );
          const reasons = transactions.map(({ id }) => ({
            transaction_id: id,
            open_flags: [FlagReason.FLAG_REASON_OUTCOME_UNKNOWN],
          }));
          expect(flags).to.deep.equal(reasons);
          expect(transactions.map(({ needs_attention }) => needs_attention)).not.to.include(false);
        }
      });
    }

    it("lists the reserve with its evidence, and the supply as the organization reads it", async () => {
      const { organizationId } = service.tenant;
      const asOfDay = "2026-11-21" as NairobiDay;
      for (const place of ["M-Pesa paybill 600000", "KCB 1234"]) {
        const figure = { place, amountCents: toCents(1_000), asOfDay, evidence: `statement of ${place}` };
        await recordReserve(service.opened.cell, { organizationId, figure, now: now() });
      }
      const { response: reserve } = await admin.call(Rpcs.listReserve, { organization_id }, vera);
      expect(
        reserve?.reserve_holdings.map((each) => [each.place, each.amount, each.as_of_day, each.evidence]),
      ).to.deep.equal([
        ["KCB 1234", "10.00", "2026-11-21", "statement of KCB 1234"],
        ["M-Pesa paybill 600000", "10.00", "2026-11-21", "statement of M-Pesa paybill 600000"],
      ]);
      const { response } = await actAs<GetSupplyResponse>(admin, "getSupply", { organization_id }, { by: vera });
      expect(response?.supply).to.include({ in_circulation: "10.00", reserve: "20.00", held: "0.00" });
      const [open] = response?.supply?.backing?.open_payments ?? [];
      expect([open?.count, open?.amount]).to.deep.equal([BigInt(FLAGGED), "30.00"]);
      expect(ageless(response?.supply?.backing?.reserve_holdings)).to.equal(ageless(reserve?.reserve_holdings));
      const { response: own } = await service.publicly.call("GetSupply", {}, service.tenant);
      expect(own["supply"]).to.include({ in_circulation: "10.00", reserve: "20.00", held: "0.00" });
    });

    it("lists each figure of a period, and shows of a point in the past those for its last day", async () => {
      const { organizationId } = service.tenant;
      for (const [asOfDay, amountCents] of [
        ["2025-12-30", 100],
        ["2025-12-31", 200],
        // Somebody corrects the day before.
        ["2025-12-30", 300],
      ] as const) {
        const figure = {
          place: "Vault",
          amountCents: toCents(amountCents),
          asOfDay: asOfDay as NairobiDay,
          evidence: "count",
        };
        await recordReserve(service.opened.cell, { organizationId, figure, now: now() });
      }
      const { response: journal } = await admin.call(
        Rpcs.listJournal,
        { organization_id, types: ["reserve.recorded"], page_size: 1 },
        vera,
      );
      expect(journal?.entries[0]?.line).to.include({
        stated_amount: "3.00",
        place: "Vault",
        as_of_day: "2025-12-30",
        evidence: "count",
        detail: "other",
        amount: undefined,
      });
      const listed = async (start: string, end: string, page_size: number) => {
        const pages = await pagesOf((page_token) =>
          admin.call(Rpcs.listReserve, { organization_id, start, end, page_size, page_token }, vera),
        );
        return pages.flatMap(({ reserve_holdings: figures }) =>
          figures.map(({ as_of_day: day, amount }) => [day, amount]),
        );
      };
      const [second, first, corrected] = [
        ["2025-12-31", "2.00"],
        ["2025-12-30", "1.00"],
        ["2025-12-30", "3.00"],
      ];
      for (const size of [1, 100]) {
        expect(await listed("2025-12-30", "2025-12-31", size)).to.deep.equal([corrected, second, first]);
        expect(await listed("2025-12-31", "2025-12-31", size)).to.deep.equal([second]);
      }
      expect(await listed("", "2025-12-30", 100)).to.deep.equal([corrected, first]);
      const [{ last_sequence: as_of_sequence } = { last_sequence: 0n }] =
        (await admin.call(Rpcs.listBooks, {}, vera)).response?.books.filter(
          (book) => book.organization_id === organization_id,
        ) ?? [];
      const { response } = await actAs<GetSupplyResponse>(
        admin,
        "getSupply",
        { organization_id, as_of_sequence },
        { by: vera },
      );
      const vault = response?.supply?.reserve_holdings.filter(({ place }) => place === "Vault");
      expect(vault?.map(({ as_of_day: day, amount }) => [day, amount])).to.deep.equal([second]);
    });

    it("lists the books with their last rows, in pages, also while they move or are suspended", async () => {
      const other = await makeTenant(keys(service.opened.database, now), "Other");
      const state = (value: string) =>
        execute(
          service.opened.address,
          `UPDATE books SET state = '${value}' WHERE organization_id = '${other.organizationId}'`,
        );
      const given = { organizationId: other.organizationId, reason: "case 17", now: now() };
      await changeSuspension(service.opened.cell, { ...given, isSuspended: true });
      const first = await admin.call(Rpcs.listBooks, { page_size: 1 }, vera);
      expect(first.response?.books).to.have.lengthOf(1);
      const [own] = first.response?.books ?? [];
      expect(own).to.include({ organization_id, organization_name: "Tenant", cell: 0, suspended: false });
      expect(own?.state).to.equal(BookState.BOOK_STATE_OPEN);
      const { response: acts } = await actAs<GetSupplyResponse>(admin, "getSupply", { organization_id }, { by: vera });
      expect(own?.last_sequence).to.equal(acts?.supply?.as_of_sequence);
      expect(own?.last_recorded_at).to.deep.equal(acts?.supply?.as_of_time);
      const page_token = first.response?.next_page_token ?? "";
      for (const [value, shown] of [
        ["MOVING", BookState.BOOK_STATE_MOVING],
        ["RESTORED", BookState.BOOK_STATE_RESTORED],
        ["OPEN", BookState.BOOK_STATE_OPEN],
      ] as const) {
        await state(value);
        const { response } = await admin.call(Rpcs.listBooks, { page_size: 1, page_token }, vera);
        const [book] = response?.books ?? [];
        expect(book).to.include({ organization_name: "Other", suspended: true, state: shown });
        expect(response?.next_page_token).to.equal(undefined);
      }
    });

    it("lists the seals of a book, newest first, and the alarm that stands", async () => {
      const { cell } = service.opened;
      const { organizationId } = service.tenant;
      const none = await admin.call(Rpcs.listSeals, { organization_id }, vera);
      expect(none.response, none.message).to.deep.equal({ seals: [], next_page_token: undefined, alarm: undefined });
      await sealBooks(cell);
      await cell.committer.commit([createAccount(organizationId, "brian")], now());
      await sealBooks(cell);
      const store = sealStore(cell);
      const book = await store.book(organizationId);
      if (book === undefined) throw new Error("the tenant has a book");
      const newest = await store.seal(book);
      const seal = { size: newest?.size ?? 0, firstSeq: 2, lastSeq: 3, problem: "row 2 is not as it was" };
      const at = now();
      await store.raise(book, seal, at);
      const { response } = await admin.call(Rpcs.listSeals, { organization_id, page_size: 1 }, vera);
      const root_hash = Buffer.from(newest?.root ?? []).toString("base64");
      expect(response?.seals.map(({ size, root_hash: root }) => [size, root])).to.deep.equal([
        [BigInt(newest?.size ?? 0), root_hash],
      ]);
      expect(response?.alarm).to.deep.include({
        size: BigInt(seal.size),
        first_sequence: 2n,
        last_sequence: 3n,
        problem: seal.problem,
      });
      const page_token = response?.next_page_token ?? "";
      const { response: last } = await admin.call(Rpcs.listSeals, { organization_id, page_size: 1, page_token }, vera);
      expect(last?.seals.map(({ size }) => size)).to.deep.equal([BigInt(seal.size - 1)]);
      expect(last?.next_page_token).to.equal(undefined);
      await clearAlarm(cell, { book, person: "Vera", reason: "a test", now: at });
      const cleared = await admin.call(Rpcs.listSeals, { organization_id }, vera);
      expect(cleared.response?.alarm).to.equal(undefined);
    });

    it("refuses the token of another list", async () => {
      const page = { organization_id, page_size: 1 };
      const { response } = await admin.call(Rpcs.listNeedsAttention, page, vera);
      const page_token = response?.next_page_token ?? "none";
      for (const rpc of [Rpcs.listSeals, Rpcs.listBooks] as const) {
        const { fields } = await admin.call(rpc as typeof Rpcs.listSeals, { ...page, page_token }, vera);
        expect(fields?.map(({ field }) => field)).to.deep.equal(["page_token"]);
      }
    });
  });
}
