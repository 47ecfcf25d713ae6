import { expect } from "chai";

import { revokeApiKey } from "../support/as-machine.js";
import type { GrpcStream } from "../support/callers/grpc-caller.js";
import { eventually } from "../support/eventually.js";
import { describeEachEngine, fresh, newAccount, newKey } from "../support/service/each-engine.js";
import { withKeys } from "../support/service/tenants.js";

interface Message {
  readonly events: readonly {
    readonly sequence: string;
    readonly type: string;
    readonly transaction?: { readonly reference: string };
  }[];
  readonly next_sequence: string;
}

const RESOURCE_EXHAUSTED = 8;
const UNAUTHENTICATED = 16;

/** Resolves once the expectation holds. */
async function holding(expectation: () => void | Promise<void>): Promise<void> {
  let failure: unknown;
  const holds = async (): Promise<boolean> => {
    try {
      await expectation();
      return true;
    } catch (error) {
      failure = error;
      return false;
    }
  };
  await eventually(holds, { what: () => String(failure) });
}

describeEachEngine("WatchEvents", (service) => {
  const watching: GrpcStream<unknown, Message>[] = [];
  afterEach(async () => {
    const all = watching.splice(0);
    for (const stream of all) stream.cancel();
    await Promise.all(all.map(({ ended }) => ended));
  });

  function watch(request: object, key?: string): GrpcStream<unknown, Message> {
    const stream = service().grpc.watch<Message>("WatchEvents", request, key === undefined ? {} : { key });
    watching.push(stream);
    return stream;
  }

  const sequencesOf = ({ responses }: GrpcStream<unknown, Message>): number[] =>
    responses.flatMap(({ events }) => events.map(({ sequence }) => Number(sequence)));

  async function latest(): Promise<number> {
    const { response } = await service().grpc.call("ListEvents", { page_size: 1 });
    return Number(response["latest_sequence"]);
  }

  async function mints(count: number, accountId: string): Promise<string[]> {
    const references = Array.from({ length: count }, () => fresh("watched"));
    await Promise.all(
      references.map((reference) => service().grpc.call("Mint", { account_id: accountId, amount: "1.00", reference })),
    );
    return references;
  }

  it("returns the whole book, and then each new event, in order and without gaps", async () => {
    const accountId = await newAccount(service());
    const stream = watch({});
    await holding(async () => {
      expect(sequencesOf(stream)).to.have.length(await latest());
    });
    await mints(40, accountId);
    const end = await latest();
    await holding(() => {
      expect(sequencesOf(stream)).to.deep.equal(Array.from({ length: end }, (_, index) => index + 1));
    });
    expect(stream.responses.at(-1)?.next_sequence).to.equal(String(end));
  });

  it("begins after the sequence, and returns only what matches", async () => {
    const [watched, other] = [await newAccount(service()), await newAccount(service())];
    const before = await latest();
    const stream = watch({ after_sequence: before, account_id: watched, types: ["transaction.completed"] });
    await mints(5, other);
    const references = await mints(5, watched);
    await holding(() => {
      const found = stream.responses.flatMap(({ events }) => events.map(({ transaction }) => transaction?.reference));
      expect(found).to.have.members(references);
    });
    expect(sequencesOf(stream)).to.deep.equal(sequencesOf(stream).toSorted((left, right) => left - right));
  });

  it("goes on after the last next_sequence without a loss or a repeat", async () => {
    const accountId = await newAccount(service());
    const before = await latest();
    await mints(20, accountId);
    const first = watch({ after_sequence: before });
    await holding(() => {
      expect(sequencesOf(first)).to.have.length(20);
    });
    first.cancel();
    await mints(20, accountId);
    const second = watch({ after_sequence: first.responses.at(-1)?.next_sequence });
    await holding(() => {
      expect([...sequencesOf(first), ...sequencesOf(second)]).to.deep.equal(
        Array.from({ length: 40 }, (_, index) => before + 1 + index),
      );
    });
  });

  it("refuses a sequence that the book does not have", async () => {
    const { code, fields } = await watch({ after_sequence: (await latest()) + 1_000_000 }).ended;
    expect([code, fields?.map(({ field }) => field)]).to.deep.equal([3, ["after_sequence"]]);
  });

  it("refuses the hundred and first stream of an organization, and takes another when one has ended", async () => {
    const after_sequence = await latest();
    const streams = Array.from({ length: 100 }, () => watch({ after_sequence }));
    await Promise.all(streams.map(({ headers }) => headers));
    await newAccount(service());
    await holding(() => {
      for (const stream of streams) expect(sequencesOf(stream)).to.have.length(1);
    });
    expect(await watch({ after_sequence }).ended).to.include({ code: RESOURCE_EXHAUSTED, reason: "TOO_MANY_STREAMS" });
    streams[0]?.cancel();
    const isTaken = async (): Promise<boolean> => {
      const stream = watch({ after_sequence });
      let hasEnded = false;
      void stream.ended.then(() => {
        hasEnded = true;
      });
      // The first message comes at once, also without events.
      await eventually(() => hasEnded || stream.responses.length > 0);
      return !hasEnded;
    };
    await eventually(isTaken);
  });

  it("ends at the deadline of the client, and with a key that is not valid", async () => {
    const stream = service().grpc.watch<Message>("WatchEvents", {}, { deadlineMillis: 300 });
    expect((await stream.ended).code).to.equal(4);
    const { id, secret } = await newKey(service());
    await withKeys(service().databaseUrl, (_, database) => revokeApiKey(database, id));
    expect(await watch({}, secret).ended).to.include({ code: UNAUTHENTICATED, reason: "INVALID_API_KEY" });
  });

  it("shows nothing of another organization", async () => {
    const accountId = await newAccount(service());
    const stream = watch({ account_id: accountId }, service().b.key);
    await mints(3, accountId);
    const theirs = watch({ account_id: accountId });
    await holding(() => {
      expect(sequencesOf(theirs)).to.have.length(4);
    });
    expect(sequencesOf(stream)).to.deep.equal([]);
  });
});
