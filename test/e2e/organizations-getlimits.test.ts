import { expect } from "chai";

import { OPERATOR } from "../../src/domain/values/actor.js";
import { toCents } from "../../src/domain/values/cents.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { ENGINES } from "../support/databases.js";
import { setAccountTier, setLimits } from "../support/operations/accounts.js";
import { problemOf } from "../support/service/each-engine.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";

const NOON = new Date("2026-01-31T12:00:00+03:00").getTime();
const HALF_DAY_MILLIS = 43_200_000;
const JANUARY_ENDS = "2026-01-31T21:00:00.000Z";

for (const engine of ENGINES) {
  describe(`GetLimits (${engine})`, () => {
    let time = NOON;
    let service: InProcess;
    let accountId: string;

    before(async () => {
      service = await startInProcess(engine, () => toUnixMillis(time));
      const { rest, a } = service;
      const body = { user_id: "amina", phone_number: "0712345678" };
      accountId = String((await rest.send("POST", "/accounts", { key: a.key, body })).json["id"]);
    });
    after(() => service.dispose());

    const limits = (query = "", key = service.a.key) => service.rest.send("GET", `/limits${query}`, { key });
    const send = (name: "mint" | "redeem", amount: string, reference: string) =>
      service.rest.send("POST", `/transactions/${name}`, {
        key: service.a.key,
        body: { account_id: accountId, amount, reference },
      });
    const operate = async (...commands: readonly Parameters<typeof commit>[0][]): Promise<void> => {
      for (const command of commands) await commit(command);
    };
    const commit = async (command: ReturnType<typeof setLimits> | ReturnType<typeof setAccountTier>): Promise<void> => {
      const given = { ...command, actor: OPERATOR };
      const [result] = await service.database.cells[0].committer.commit([given], toUnixMillis(time));
      expect(result?.kind).to.equal("done");
    };

    it("shows nothing before a limit is set, and nothing counts", async () => {
      expect((await send("mint", "100.00", "before")).status).to.equal(201);
      expect((await limits()).json).to.deep.equal({ account_id: null, tier: null, counted_since: null, limits: [] });
    });

    it("shows what is used and what is left, of the organization and of an account by its tier", async () => {
      const { organizationId } = service.a;
      time += 1_000;
      await operate(
        setLimits(organizationId, { changes: { MONTH: toCents(100_000) } }),
        setLimits(organizationId, { tier: "small", changes: { TRANSACTION: toCents(30_000), DAY: toCents(50_000) } }),
        setAccountTier(organizationId, accountId as never, "small"),
      );
      expect((await send("mint", "200.00", "in-1")).status).to.equal(201);
      const own = (await limits()).json;
      expect(own).to.include({ account_id: null, tier: null });
      expect(own["limits"]).to.deep.equal([
        { type: "mint", period: "month", max_amount: 1000, used: 200, remaining: 800, resets_at: JANUARY_ENDS },
      ]);
      const { json } = await limits(`?account_id=${accountId}`);
      expect(json).to.include({ account_id: accountId, tier: "small" });
      expect(json["limits"]).to.deep.equal([
        { type: "mint", period: "transaction", max_amount: 300, used: null, remaining: 300, resets_at: null },
        { type: "mint", period: "day", max_amount: 500, used: 200, remaining: 300, resets_at: JANUARY_ENDS },
      ]);
      const account = await service.rest.send("GET", `/accounts/${accountId}`, { key: service.a.key });
      expect(account.json).to.include({ tier: "small" });
      const { response } = await service.grpc.call("GetLimits", {}, { key: service.a.key });
      expect(response["limits"]).not.to.have.any.keys("account_id", "tier");
    });

    it("tells with a refusal which limit it is, what is left, and until when", async () => {
      const one = await send("mint", "300.01", "too-much");
      expect(problemOf(one)).to.include({ status: 422, code: "LIMIT_EXCEEDED" });
      expect(one.json).to.include({ account_id: accountId, period: "transaction", max_amount: 300, remaining: 300 });
      expect((await send("mint", "300.00", "in-2")).status).to.equal(201);
      const day = await send("mint", "0.01", "too-much");
      expect(day.json).to.include({
        account_id: accountId,
        period: "day",
        max_amount: 500,
        used: 500,
        remaining: 0,
        resets_at: "2026-01-31T21:00:00.000Z",
      });
    });

    it("does not count a replay, and gives back what is reversed", async () => {
      expect((await send("mint", "300.00", "in-2")).status).to.equal(200);
      const listed = await service.rest.send("GET", "/transactions?reference=in-2", { key: service.a.key });
      const [{ id }] = listed.json["transactions"] as [{ id: string }];
      const path = `/transactions/${id}/reverse`;
      expect((await service.rest.send("POST", path, { key: service.a.key, body: {} })).status).to.equal(201);
      const [month] = (await limits()).json["limits"] as [{ used: number }];
      expect(month.used).to.equal(200);
      expect((await send("mint", "300.00", "in-3")).status).to.equal(201);
    });

    it("counts each request of a batch, and refuses those beyond the limit alone", async () => {
      time = NOON + 86_400_000;
      const requests = ["b1", "b2", "b3"].map((reference) => ({
        mint: { account_id: accountId, amount: "200.00", reference },
      }));
      const { json } = await service.rest.send("POST", "/transactions/batch", {
        key: service.a.key,
        body: { requests },
      });
      const results = json["results"] as { error?: { code: string } | null }[];
      expect(results.map(({ error }) => error?.code ?? "done")).to.deep.equal(["done", "done", "LIMIT_EXCEEDED"]);
    });

    it("begins again with the next day and the next month", async () => {
      const { json } = await limits();
      expect(json["limits"]).to.deep.equal([
        {
          type: "mint",
          period: "month",
          max_amount: 1000,
          used: 400,
          remaining: 600,
          resets_at: "2026-02-28T21:00:00.000Z",
        },
      ]);
    });

    it("counts to the day of the next mint, where the clock is a little behind the book over midnight", async () => {
      const used = async (): Promise<unknown> => {
        const { json } = await limits(`?account_id=${accountId}`);
        return (json["limits"] as { period: string; used: unknown }[]).find(({ period }) => period === "day")?.used;
      };
      expect(await used()).to.equal(400);
      time += HALF_DAY_MILLIS + 10_000;
      const body = { user_id: "juma", phone_number: "0712345679" };
      expect((await service.rest.send("POST", "/accounts", { key: service.a.key, body })).status).to.equal(201);
      time -= 20_000;
      expect(await used()).to.equal(0);
      expect((await send("mint", "300.00", "after midnight")).status).to.equal(201);
      expect(await used()).to.equal(300);
    });

    it("shows nothing of another organization, nor an account that is not there", async () => {
      expect((await limits("", service.b.key)).json["limits"]).to.deep.equal([]);
      expect(problemOf(await limits(`?account_id=${accountId}`, service.b.key))).to.include({
        status: 404,
        code: "ACCOUNT_NOT_FOUND",
      });
      expect(problemOf(await limits("?account_id=none"))).to.include({ status: 404, code: "ACCOUNT_NOT_FOUND" });
    });
  });
}
