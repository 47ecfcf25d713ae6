import { expect } from "chai";

import type { TransactionId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { RailInbox } from "../../../src/settlement/ports/inbox.js";
import { railInbox } from "../../../src/storage/rails/inbox.js";
import { databaseOfEachTest, ENGINES } from "../../support/databases.js";
import { newTransactionId } from "../../support/names.js";

const MESSAGES_MAX = 50;
const at = toUnixMillis;

for (const engine of ENGINES) {
  describe(`the inbox of rails (${engine})`, () => {
    const opened = databaseOfEachTest(engine);
    let inbox: RailInbox;
    let transactionId: TransactionId;
    beforeEach(() => {
      inbox = railInbox(opened.cell);
      transactionId = newTransactionId();
    });

    const add = (body: string, now: number, id = transactionId): Promise<string> =>
      inbox.add({ transactionId: id, purpose: "collect", body }, at(now));
    const due = (now: number, limit = 100): ReturnType<RailInbox["due"]> => inbox.due({ now: at(now), limit });
    const bodies = async (now: number, limit?: number): Promise<readonly string[]> =>
      (await due(now, limit)).map(({ body }) => body);

    it("stores a message once for each transaction", async () => {
      expect(await add('{"a":1}', 1)).to.equal("stored");
      expect(await add('{"a":1}', 2)).to.equal("known");
      expect(await add('{"a":2}', 3)).to.equal("stored");
      expect(await add('{"a":1}', 4, newTransactionId())).to.equal("stored");
      const stored = [
        { purpose: "collect", body: '{"a":1}', receivedAt: 1 },
        { purpose: "collect", body: '{"a":2}', receivedAt: 3 },
      ];
      expect(await inbox.messages(transactionId)).to.deep.equal(stored);
      expect(await inbox.messages(newTransactionId())).to.deep.equal([]);
    });

    it("gives the messages that are due, those that wait longest first", async () => {
      await add("second", 2);
      await add("first", 1);
      await add("third", 3);
      expect(await bodies(2)).to.deep.equal(["first", "second"]);
      expect(await bodies(9, 1)).to.deep.equal(["first"]);
      const [message] = await due(1);
      expect(message).to.deep.equal({
        id: message?.id,
        transactionId,
        purpose: "collect",
        body: "first",
        tries: 0,
        receivedAt: 1,
      });
      expect(message?.id).to.be.a("number");
    });

    it("gives a postponed message later, with its tries", async () => {
      await add("one", 1);
      const [message] = await due(1);
      await inbox.postpone(message?.id ?? 0, { dueAt: at(5), tries: 1 });
      expect(await due(4)).to.deep.equal([]);
      expect(await due(5)).to.deep.equal([{ ...message, tries: 1 }]);
    });

    it("keeps a settled message as evidence, and never gives it again", async () => {
      await add("one", 1);
      const id = (await due(1))[0]?.id ?? 0;
      await inbox.settle(id);
      await inbox.settle(id);
      // A holder whose lease has passed may still postpone it.
      await inbox.postpone(id, { dueAt: at(2), tries: 1 });
      expect(await due(9)).to.deep.equal([]);
      expect(await add("one", 9)).to.equal("known");
      expect(await due(9)).to.deep.equal([]);
      expect(await inbox.messages(transactionId)).to.have.lengthOf(1);
    });

    it("begins no transaction for a message that need not be stored", async () => {
      let transactions = 0;
      const transact: typeof opened.cell.transact = (change) => {
        transactions += 1;
        return opened.cell.transact(change);
      };
      const counted = railInbox({ ...opened.cell, transact });
      const addCounted = (body: string): Promise<string> =>
        counted.add({ transactionId, purpose: "collect", body }, at(1));
      for (let count = 0; count < MESSAGES_MAX; count += 1) await addCounted(String(count));
      expect([transactions, await addCounted("0"), await addCounted("one more")]).to.deep.equal([50, "known", "full"]);
      expect(transactions).to.equal(MESSAGES_MAX);

      transactionId = newTransactionId();
      transactions = 0;
      await Promise.all(Array.from({ length: 200 }, (_, count) => addCounted(String(count))));
      expect(transactions).to.equal(MESSAGES_MAX);
    });

    it("stores one of two equal messages that come at once", async () => {
      expect((await Promise.all([add("one", 1), add("one", 1)])).toSorted()).to.deep.equal(["known", "stored"]);
    });

    it(`stores at most ${String(MESSAGES_MAX)} messages for one transaction`, async () => {
      for (let count = 0; count < MESSAGES_MAX; count += 1) expect(await add(String(count), count)).to.equal("stored");
      expect(await add("one more", 1)).to.equal("full");
      expect(await add("0", 1)).to.equal("known");
      expect(await add("one more", 1, newTransactionId())).to.equal("stored");
      expect(await inbox.messages(transactionId)).to.have.lengthOf(MESSAGES_MAX);
    });

    it("gives what KESC itself has asked no room of what the rail says, and shows its last result", async () => {
      const addResult = (body: string, now: number): Promise<string> =>
        inbox.add({ transactionId, purpose: "status", body }, at(now));
      for (let count = 0; count <= MESSAGES_MAX; count += 1) {
        expect(await addResult(`result ${String(count)}`, count)).to.equal("stored");
        for (const { id } of await due(count)) await inbox.settle(id);
      }
      for (let count = 0; count < MESSAGES_MAX; count += 1) expect(await add(String(count), 60)).to.equal("stored");
      expect(await add("one more", 60)).to.equal("full");
      expect(await addResult("the last", 61)).to.equal("stored");
      const results = (await inbox.messages(transactionId)).filter(({ purpose }) => purpose === "status");
      expect(results.map(({ body }) => body)).to.deep.equal([`result ${String(MESSAGES_MAX)}`, "the last"]);
    });
  });
}
