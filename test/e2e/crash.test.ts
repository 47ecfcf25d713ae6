import { expect } from "chai";

import type { Fields, GrpcReply } from "../support/callers/grpc-caller.js";
import { ENGINES_OF_STAGE } from "../support/databases.js";
import { eventually } from "../support/eventually.js";
import { expectBooksHold } from "../support/service/each-engine.js";
import { Service } from "../support/service/service.js";
import { STAGE } from "../support/stage.js";

// The callers call until the service is killed, so the kill always comes amid their calls.
const CALLERS = 1_000;
const REST_CALLERS = 50;
const BULK_CALLERS = 10;
/** The test kills the service after this number of acknowledged mints. */
const MINTS_MIN = 300;
const REST_MINTS_MIN = 50;
const ACCOUNTS = 10;
const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;

for (const engine of ENGINES_OF_STAGE) {
  describe(`killed with -9 under load (${engine})`, () => {
    let service: Service;
    const accounts: string[] = [];

    before(async () => {
      service = await Service.start(engine);
      for (let index = 0; index < ACCOUNTS; index += 1) {
        const request = { user_id: `user${String(index)}`, phone_number: "0712345678" };
        const { response } = await service.grpc.call("CreateAccount", request);
        accounts.push((response["account"] as { id: string }).id);
      }
    });
    after(() => service.dispose());

    const mint = (index: number): Promise<GrpcReply> =>
      service.grpc.call("Mint", {
        account_id: accounts[index % ACCOUNTS],
        amount: "1.00",
        reference: `mint${String(index)}`,
      });
    const idOf = (response: Fields): string => (response["transaction"] as { id: string }).id;

    it("has every mint that it acknowledged, none twice", async () => {
      const acknowledged = new Map<number, string>();
      const codes = new Set<number>();
      let sent = 0;
      let killed: Promise<void> | undefined;
      const caller = async (): Promise<void> => {
        while (killed === undefined) {
          const index = sent;
          sent += 1;
          const answer = await mint(index);
          codes.add(answer.code);
          if (answer.code !== 0) return;
          acknowledged.set(index, idOf(answer.response));
          // Some mints are acknowledged, some are in a batch, all others wait.
          if (acknowledged.size >= MINTS_MIN) killed ??= service.kill();
        }
      };
      await Promise.all(Array.from({ length: CALLERS }, caller));
      await killed;
      // On a busy machine a call's deadline can pass first. Its outcome is unknown, too.
      codes.delete(DEADLINE_EXCEEDED);
      expect([...codes]).to.have.members([0, UNAVAILABLE]);
      expect(acknowledged.size).to.be.at.least(MINTS_MIN);

      await service.start();
      await Promise.all(
        Array.from(acknowledged, async ([index, id]) => {
          const reference = `mint${String(index)}`;
          const found = await service.grpc.call("GetTransaction", { transaction_id: id });
          expect(found.response["transaction"], reference).to.include({ reference });
        }),
      );

      // A caller that does not know the outcome repeats the call.
      const retried = await Promise.all(Array.from({ length: sent }, (_, index) => mint(index)));
      expect(retried.filter(({ code }) => code !== 0)).to.deep.equal([]);
      for (const [index, id] of acknowledged) expect(idOf(retried[index]?.response ?? {})).to.equal(id);
      for (const [place, accountId] of accounts.entries()) {
        const { response } = await service.grpc.call("GetAccount", { account_id: accountId });
        const mints = Math.ceil((sent - place) / ACCOUNTS);
        expect(response["account"]).to.include({ available_balance: `${String(mints)}.00` });
      }
    });

    it("has every mint of a batch that it acknowledged, none twice after a repeat", async () => {
      const { response } = await service.grpc.call("CreateAccount", { user_id: "bulk", phone_number: "0712345678" });
      const account_id = (response["account"] as { id: string }).id;
      const batchOf = (batch: number): object[] =>
        Array.from({ length: 1_000 }, (_, index) => ({
          mint: { account_id, amount: "1.00", reference: `bulk${String(batch)}-${String(index)}` },
        }));
      const send = (requests: object[]): Promise<GrpcReply> =>
        service.grpc.call("BatchCreateTransactions", { requests }, { deadlineMillis: 30_000 });
      const idsOf = (answer: Fields): string[] =>
        (answer["results"] as { transaction?: { id: string } }[]).map(
          ({ transaction }) => transaction?.id ?? "refused",
        );

      let killed: Promise<void> | undefined;
      const first: GrpcReply[] = [];
      let sent = 0;
      const caller = async (): Promise<void> => {
        while (killed === undefined) {
          const batch = sent;
          sent += 1;
          const answer = await send(batchOf(batch));
          first[batch] = answer;
          if (answer.code !== 0) return;
          // The other batches are being committed, or wait.
          killed ??= service.kill();
        }
      };
      await Promise.all(Array.from({ length: BULK_CALLERS }, caller));
      await killed;
      expect(new Set(first.map(({ code }) => code))).to.include(0);
      await service.start();

      for (const [batch, answer] of first.entries()) {
        const again = await send(batchOf(batch));
        const ids = idsOf(again.response);
        expect(new Set(ids).size).to.equal(1_000);
        expect(ids).to.not.include("refused");
        if (answer.code === 0) expect(ids).to.deep.equal(idsOf(answer.response));
      }
      const { response: found } = await service.grpc.call("GetAccount", { account_id });
      expect(found["account"]).to.include({ available_balance: `${String(sent)}000.00` });
    });

    if (STAGE !== "test") {
      it("has every mint that it acknowledged over REST, where the gateway batches calls, and none twice", async () => {
        const created = await service.rest("POST", "/accounts", {
          body: { user_id: "rest", phone_number: "0712345678" },
        });
        const account_id = String(created.json["id"]);
        const restMint = async (index: number): Promise<{ status: number; id: unknown } | undefined> => {
          const body = { account_id, amount: 1, reference: `rest${String(index)}` };
          try {
            const { status, json } = await service.rest("POST", "/transactions/mint", { body });
            return { status, id: json["id"] };
          } catch {
            return undefined; // the connection broke
          }
        };
        let killed: Promise<void> | undefined;
        let acknowledged = 0;
        const first: Awaited<ReturnType<typeof restMint>>[] = [];
        const caller = async (): Promise<void> => {
          while (killed === undefined) {
            const index = first.push(undefined) - 1;
            const answer = await restMint(index);
            first[index] = answer;
            if (answer?.status !== 201) return;
            acknowledged += 1;
            if (acknowledged >= REST_MINTS_MIN) killed ??= service.kill();
          }
        };
        // Callers that were answered together call again together: the gateway batches their calls.
        await Promise.all(Array.from({ length: REST_CALLERS }, caller));
        await killed;
        expect(acknowledged).to.be.at.least(REST_MINTS_MIN);
        await service.start();

        const again = await Promise.all(first.map((_, index) => restMint(index)));
        for (const [index, answer] of first.entries()) {
          if (answer?.status === 201) expect(again[index]).to.deep.equal({ status: 200, id: answer.id });
          else expect(again[index]?.status).to.be.oneOf([200, 201]);
        }
        const { json } = await service.rest("GET", `/accounts/${account_id}`);
        expect(json["available_balance"]).to.equal(first.length);
        // Whether calls meet in one turn of the gateway is chance: they are made until two do.
        const batched = /"method":"TransactionService\/BatchCreateTransactions"[^\n]*"items":(?!1000)/;
        await eventually(async () => {
          await Promise.all(first.map((_, index) => restMint(index)));
          return batched.test(service.printed());
        });
      });

      it("exits with 0 on SIGTERM: every call gets its response, and every acknowledged mint is there", async () => {
        const acknowledged: string[] = [];
        const cut: string[] = [];
        let next = 1_000_000;
        let stopped = false;
        const caller = async (): Promise<void> => {
          while (!stopped) {
            const answer = await mint((next += 1));
            if (answer.code === 0) acknowledged.push(idOf(answer.response));
            else if (answer.reason !== "SHUTTING_DOWN") {
              // Only a call that never left the client may end without an answer of the server.
              if (!/ECONNREFUSED|No connection established/.test(answer.message)) cut.push(answer.message);
              return;
            }
          }
        };
        const callers = Array.from({ length: 50 }, caller);
        await eventually(() => acknowledged.length > 100);
        expect(await service.stop()).to.equal(0);
        stopped = true;
        await Promise.all(callers);
        expect(cut).to.deep.equal([]);

        await service.start();
        const found = await Promise.all(
          acknowledged.map((id) => service.grpc.call("GetTransaction", { transaction_id: id })),
        );
        expect(found.filter(({ code }) => code !== 0)).to.deep.equal([]);
      });
    }

    // The journal keeps every row, so one check at the end finds the damage of any of the kills.
    it("has books that hold after all kills", async () => {
      await expectBooksHold(service);
    });
  });
}
