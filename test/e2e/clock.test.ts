import { expect } from "chai";

import { toUnixMillis } from "../../src/domain/values/time.js";
import { ENGINES } from "../support/databases.js";
import { eventually } from "../support/eventually.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";

const BACK_MILLIS = 30_000;

for (const engine of ENGINES) {
  describe(`a clock that is set back, on ${engine}`, () => {
    let service: InProcess;
    let offsetMillis = 0;
    before(async () => {
      service = await startInProcess(engine, () => toUnixMillis(Date.now() - offsetMillis));
    });
    after(() => service.dispose());

    it("never gives a resource a time before one that it has", async () => {
      const call = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> =>
        (await service.rest.send(method, path, { key: service.a.key, ...(body === undefined ? {} : { body }) })).json;
      const account = await call("POST", "/accounts", {
        user_id: "clock",
        phone_number: "0712345678",
        email: "clock@example.com",
      });
      offsetMillis = BACK_MILLIS;
      const id = String(account["id"]);
      const minted = await call("POST", "/transactions/mint", { account_id: id, amount: 1, reference: "back" });
      const seen = await call("GET", `/accounts/${id}`);
      const answer = await call("POST", `/accounts/${id}/freeze`, { reason: "other", note: "back" });
      const { account: frozen, freeze } = answer as Record<"account" | "freeze", Record<string, unknown>>;

      const millis = (resource: Record<string, unknown>, name: string): number => Date.parse(String(resource[name]));
      const createdAt = millis(account, "created_at");
      expect(millis(minted, "created_at")).to.be.at.least(createdAt);
      expect(millis(minted, "completed_at")).to.be.at.least(millis(minted, "created_at"));
      for (const changed of [seen, frozen]) {
        expect(millis(changed, "created_at")).to.equal(createdAt);
        expect(millis(changed, "updated_at")).to.be.at.least(createdAt);
      }
      expect(millis(freeze, "created_at")).to.be.at.least(createdAt);
    });
  });
}

describe("a clock that is set ahead while a server runs on SQLite", () => {
  it("commits nothing and is not ready, until the clock is right again", async () => {
    const service = await startInProcess("sqlite");
    const wallClock = Date.now;
    const mint = async (reference: string) => {
      const body = { account_id: "acc_none", amount: 1, reference };
      return (await service.rest.send("POST", "/transactions/mint", { key: service.a.key, body })).json;
    };
    try {
      Date.now = () => wallClock() + 7 * 86_400_000;
      expect(await mint("ahead")).to.include({ code: "STORAGE_UNAVAILABLE" });
      await eventually(async () => (await service.rest.send("GET", "/readyz", {})).status === 503);
      Date.now = wallClock;
      expect(await mint("right")).to.include({ code: "ACCOUNT_NOT_FOUND" });
    } finally {
      Date.now = wallClock;
    }
    await service.dispose();
  });
});
