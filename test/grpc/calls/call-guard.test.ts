import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";
import { service as health } from "grpc-health-check";

import { TransactionServiceService as rpcs } from "../../../src/gen/kesc/v1/transaction_service.js";
import { eventually } from "../../support/eventually.js";
import { MINT, SECRET, serve, transaction } from "../../support/service/grpc-server.js";

const check = health["Check"] as typeof rpcs.mint;

describe("grpc: more calls than the server holds", () => {
  it("are QUEUE_FULL for the caller that has used its share, and for no other", async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const under = await serve({
      limits: { callsMax: 4 },
      submit: async () => {
        await released;
        return { kind: "done", resource: transaction(), replayed: false };
      },
    });
    const taken = [1, 2].map(() => under.grpc.call(rpcs.mint, MINT));
    await eventually(() => under.submitted.length === 2);
    for (const metadata of [{ "x-api-key": SECRET }, { authorization: `bearer   ${SECRET}` }]) {
      const refused = await under.grpc.call(rpcs.mint, MINT, { key: "", metadata });
      expect(refused).to.include({ code: Status.RESOURCE_EXHAUSTED, reason: "QUEUE_FULL", retrySeconds: 1 });
    }
    expect(under.lines).to.deep.include({
      ...under.lines.at(-1),
      method: "TransactionService/Mint",
      code: "RESOURCE_EXHAUSTED",
      reason: "QUEUE_FULL",
    });
    const other = await under.grpc.call(rpcs.mint, MINT, { key: "another" });
    expect(other.reason).to.equal("INVALID_API_KEY");
    expect((await under.grpc.call(check, {} as never, { key: "" })).code).to.equal(Status.OK);

    release();
    expect((await Promise.all(taken)).map(({ code }) => code)).to.deep.equal([Status.OK, Status.OK]);
    await under.close();
  });

  it("find room again, however the calls before them ended", async () => {
    const under = await serve({ limits: { callsMax: 2, requestMillisMax: 100 } });
    const endings = [
      () => under.grpc.call(rpcs.mint, MINT),
      () => under.grpc.call(rpcs.mint, { ...MINT, amount: "" }),
      () => under.grpc.call(rpcs.mint, MINT, { deadlineMillis: -1 }),
      () => under.grpc.call(rpcs.mint, MINT, { key: "another" }),
      () => under.grpc.call({ ...rpcs.mint, requestSerialize: () => Buffer.alloc(300_000) }, MINT),
    ];
    for (const end of [...endings, ...endings]) {
      expect((await end()).reason, String(end)).not.to.equal("QUEUE_FULL");
    }
    await under.close();
  });
});
