import { expect } from "chai";

import { revokeApiKey } from "../support/as-machine.js";
import { openDatabaseAt } from "../support/databases.js";
import { eventually } from "../support/eventually.js";
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

  it("never mint beyond a limit, of an account or of the organization, however many callers ask both at once", async () => {
    const { organizationId, key } = first.a;
    const accounts = [await newAccount(first), await newAccount(first)] as const;
    const limit = async (...given: string[]): Promise<void> => {
      const set = await first.kesc("limits", "set", organizationId, ...given, "--note", "a race");
      expect(set.code, set.stderr).to.equal(0);
    };
    await limit("--mint-per-month", "60.00");
    await limit("--tier", "default", "--mint-per-day", "40.00");
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        (index % 2 === 0 ? first : second).grpc.call(
          "Mint",
          { account_id: accounts[index % 4 < 2 ? 0 : 1], amount: "1.00", reference: `limited${String(index)}` },
          { key },
        ),
      ),
    );
    expect(answers.filter(({ code }) => code === 0)).to.have.lengthOf(60);
    expect(answers.filter(({ reason }) => reason === "LIMIT_EXCEEDED")).to.have.lengthOf(140);
    for (const account of accounts) expect(Number(await availableOf(first, account))).to.be.at.most(40);
    const shown = await second.kesc("limits", "show", organizationId);
    expect(shown.stdout).to.match(/organization +mint +month +60\.00 +60\.00 +0\.00/);
    await limit("--mint-per-month", "none");
    await limit("--tier", "default", "--mint-per-day", "none");
    await expectBooksHold(first);
  });

  it("refuse a key within a second of its revocation, though both remember it and use it without a pause", async () => {
    const { id, secret: key } = await newKey(first);
    const askBoth = async (): Promise<(string | undefined)[]> => {
      const answers = [first, second].map((server) => server.grpc.call("ListAccounts", {}, { key }));
      return (await Promise.all(answers)).map(({ reason }) => reason);
    };
    expect(await askBoth()).to.deep.equal([undefined, undefined]);

    await withKeys(first.databaseUrl, (_, database) => revokeApiKey(database, id));
    // A use of the remembered key must not extend the time for which it is remembered.
    const revokedAt = Date.now();
    while (Date.now() < revokedAt + SECOND_MILLIS) await askBoth();
    expect(await askBoth()).to.deep.equal(["INVALID_API_KEY", "INVALID_API_KEY"]);
  });

  it("commit nothing of an organization from its suspension on, though both take its calls without a pause", async () => {
    const accountId = await newAccount(first);
    const { organizationId, key } = first.a;
    let isOver = false;
    const mintOn = async ({ grpc }: Service, words: string[], name: string): Promise<void> => {
      while (!isOver) {
        const mint = { account_id: accountId, amount: "1.00", reference: `${name}${String(words.length)}` };
        words.push((await grpc.call("Mint", mint, { key })).reason ?? "done");
      }
    };
    const [ofFirst, ofSecond]: [string[], string[]] = [[], []];
    const minting = [mintOn(first, ofFirst, "first"), mintOn(second, ofSecond, "second")];
    await eventually(() => ofFirst.includes("done") && ofSecond.includes("done"));
    const suspended = await first.kesc("org", "suspend", organizationId, "--note", "case 17", "--yes");
    expect(suspended.code, suspended.stderr).to.equal(0);
    const late = await Promise.all(
      [first, second].map(({ grpc }) =>
        grpc.call("Mint", { account_id: accountId, amount: "1.00", reference: "late" }, { key }),
      ),
    );
    expect(late.map(({ reason }) => reason)).to.deep.equal(["ORGANIZATION_SUSPENDED", "ORGANIZATION_SUSPENDED"]);
    isOver = true;
    await Promise.all(minting);
    for (const words of [ofFirst, ofSecond]) {
      expect(words.indexOf("ORGANIZATION_SUSPENDED")).to.equal(words.lastIndexOf("done") + 1);
    }

    const database = await openDatabaseAt(first.databaseUrl);
    try {
      const rows = await database.cells[0].reader.rows(
        `SELECT j.kind FROM journal j JOIN books b ON b.number = j.book
         WHERE b.organization_id = ? AND j.seq > b.suspended_seq`,
        [organizationId],
      );
      expect(rows).to.deep.equal([]);
    } finally {
      await database.close();
    }
    await expectBooksHold(first);
  });
});
