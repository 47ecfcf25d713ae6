import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";
import { service as health } from "grpc-health-check";

import { TransactionServiceService as rpcs } from "../../../src/gen/kesc/v1/transaction_service.js";
import { call, eventually, MINT, SECRET, serve, transaction } from "../../support/grpc-harness.js";

const check = health["Check"] as typeof rpcs.mint;

describe("grpc: more calls than the server holds", () => {
  it("are QUEUE_FULL for the caller who has had its share, and for nobody else", async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const under = await serve({
      limits: { callsMax: 4 },
      submit: async () => {
        await released;
        return { kind: "done", resource: transaction(), replayed: false };
      },
    });
    const taken = [1, 2].map(() => call(under.client, rpcs.mint, MINT));
    await eventually(() => under.submitted.length === 2);
    for (const metadata of [{ "x-api-key": SECRET }, { authorization: `bearer   ${SECRET}` }]) {
      const { status, details } = await call(under.client, rpcs.mint, MINT, { metadata });
      expect([status.code, details.reason, details.retrySeconds]).to.deep.equal([
        Status.RESOURCE_EXHAUSTED,
        "QUEUE_FULL",
        1,
      ]);
    }
    expect(under.lines).to.deep.include({
      ...under.lines.at(-1),
      method: "TransactionService/Mint",
      code: "RESOURCE_EXHAUSTED",
      reason: "QUEUE_FULL",
    });
    const other = await call(under.client, rpcs.mint, MINT, { metadata: { "x-api-key": "another" } });
    expect(other.details.reason).to.equal("INVALID_API_KEY");
    expect((await call(under.client, check, {} as never, { metadata: {} })).error).to.equal(undefined);

    release();
    expect((await Promise.all(taken)).map(({ error }) => error)).to.deep.equal([undefined, undefined]);
    await under.close();
  });

  it("have room again, however the calls before them ended", async () => {
    const under = await serve({ limits: { callsMax: 2, requestMillisMax: 100 } });
    const endings = [
      () => call(under.client, rpcs.mint, MINT),
      () => call(under.client, rpcs.mint, { ...MINT, amount: "" }),
      () => call(under.client, rpcs.mint, MINT, { deadline: Date.now() - 1 }),
      () => call(under.client, rpcs.mint, MINT, { metadata: { "x-api-key": "another" } }),
      () => call(under.client, { ...rpcs.mint, requestSerialize: () => Buffer.alloc(300_000) }, MINT),
    ];
    for (const end of [...endings, ...endings]) {
      expect((await end()).details.reason, String(end)).not.to.equal("QUEUE_FULL");
    }
    await under.close();
  });
});
