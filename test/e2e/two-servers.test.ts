import { expect } from "chai";

import { availableOf, expectBooksHold, newAccount, newKey } from "../support/service/each-engine.js";
import { Service } from "../support/service/service.js";
import { withKeys } from "../support/service/tenants.js";

const SECOND_MILLIS = 1_000;

describe("two servers on one PostgreSQL", () => {
  let first: Service;
  let second: Service;

  before(async () => {
    first = await Service.start("postgres");
    second = await Service.start("postgres", { DATABASE_URL: first.databaseUrl });
  });
  after(async () => {
    await second.dispose();
    await first.dispose();
  });

  it("never pay out more than is available, however many callers ask both at once", async () => {
    const accountId = await newAccount(first, "50.00");
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        (index % 2 === 0 ? first : second).grpc.call(
          "Redeem",
          { account_id: accountId, amount: "1.00", reference: `race${String(index)}` },
          { key: first.a.key },
        ),
      ),
    );
    expect(answers.filter(({ code }) => code === 0)).to.have.lengthOf(50);
    expect(answers.filter(({ reason }) => reason === "INSUFFICIENT_FUNDS")).to.have.lengthOf(150);
    expect(await availableOf(second, accountId)).to.equal(undefined); // the second's own organization sees nothing
    expect(await availableOf(first, accountId)).to.equal("0.00");
    await expectBooksHold(first);
  });

  it("refuse a key within a second of its revocation, though both remember it and use it without a pause", async () => {
    const { id, secret: key } = await newKey(first);
    const askBoth = async (): Promise<(string | undefined)[]> => {
      const answers = [first, second].map((server) => server.grpc.call("ListAccounts", {}, { key }));
      return (await Promise.all(answers)).map(({ reason }) => reason);
    };
    expect(await askBoth()).to.deep.equal([undefined, undefined]);

    await withKeys(first.databaseUrl, (keys) => keys.revokeApiKey(id));
    // A use of the remembered key must not extend the time for which it is remembered.
    const revokedAt = Date.now();
    while (Date.now() < revokedAt + SECOND_MILLIS) await askBoth();
    expect(await askBoth()).to.deep.equal(["INVALID_API_KEY", "INVALID_API_KEY"]);
  });
});
