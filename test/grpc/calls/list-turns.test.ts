import { expect } from "chai";

import type { ApiKeyId, OperatorId, OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { admittedWith } from "../../../src/grpc/calls/key-gate.js";
import { type ListRefusal, ListTurns } from "../../../src/grpc/calls/list-turns.js";
import type { Page } from "../../../src/ledger/ports/reads.js";
import type { CallingOperator } from "../../../src/operators/session.js";
import { apiKey } from "../../support/service/grpc-server.js";

const NOW = toUnixMillis(1_000);
const IN_TIME = toUnixMillis(2_000);

type Result = Promise<Page<number> | ListRefusal>;

function pageOf(rows: number): Page<number> {
  return { rows: Array<number>(rows).fill(0), nextBeforeSeq: undefined, lookedAt: rows };
}

interface Listed {
  readonly organization?: string;
  readonly deadline?: typeof IN_TIME;
  /** The operator who reads, in place of a key. */
  readonly by?: OperatorId;
}

/** Lists whose reads wait until the test ends them. */
class Lists {
  readonly turns: ListTurns;
  /** The names of the lists that began, in their order. */
  readonly begun: string[] = [];
  readonly #ends: ((rows: number) => void)[] = [];

  constructor(underWayMax: number) {
    this.turns = new ListTurns({ now: () => NOW, underWayMax });
  }

  list(name: string, { organization = name, deadline = IN_TIME, by }: Listed = {}): Result {
    const own = admittedWith(apiKey({ id: name as ApiKeyId, organizationId: organization as OrganizationId }));
    const operator = { id: by } as CallingOperator;
    const caller = by === undefined ? own : { ...own, who: { kind: "operator", operator } as const };
    return this.turns.page({ ...caller, deadline }, () => {
      this.begun.push(name);
      return new Promise((resolve) => {
        this.#ends.push((rows) => {
          resolve(pageOf(rows));
        });
      });
    });
  }

  /** Ends the oldest list that is under way, with so many rows. */
  async endOne(rows = 0): Promise<void> {
    this.#ends.shift()?.(rows);
    await new Promise(setImmediate);
  }
}

describe("the turns of lists", () => {
  it("lets an operator who reads an organization wait in a line of the operator", async () => {
    const lists = new Lists(2);
    const own = lists.list("a", { organization: "o" });
    const second = lists.list("b", { organization: "o" });
    const operators = lists.list("c", { organization: "o", by: "opr" as OperatorId });
    expect(lists.begun).to.deep.equal(["a", "c"]);
    for (let count = 0; count < 3; count += 1) await lists.endOne();
    expect(await Promise.all([own, second, operators])).to.have.length(3);
  });

  it("let so many run at once, and no more", async () => {
    const lists = new Lists(2);
    const all = ["a", "b", "c"].map((name) => lists.list(name));
    expect(lists.begun).to.deep.equal(["a", "b"]);
    expect(lists.turns.waiting).to.equal(1);
    await lists.endOne();
    expect(lists.begun).to.deep.equal(["a", "b", "c"]);
    expect(lists.turns.waiting).to.equal(0);
    await lists.endOne();
    await lists.endOne();
    expect(await Promise.all(all)).to.deep.equal(Array(3).fill(pageOf(0)));
  });

  it("go from organization to organization, however many lists one has", async () => {
    const lists = new Lists(1);
    for (let count = 0; count < 5; count += 1) void lists.list("greedy", { organization: "one" });
    void lists.list("sister", { organization: "one" });
    void lists.list("modest", { organization: "two" });
    for (let count = 0; count < 2; count += 1) await lists.endOne();
    expect(lists.begun).to.deep.equal(["greedy", "modest", "greedy"]);
  });

  it("let one organization run no two lists at once, and others meanwhile", () => {
    const lists = new Lists(4);
    for (const name of ["a", "b"]) void lists.list(name, { organization: "one" });
    void lists.list("c", { organization: "two" });
    expect(lists.begun).to.deep.equal(["a", "c"]);
  });

  it("refuse the ninth list of a key, and take that of another key", async () => {
    const lists = new Lists(1);
    for (let count = 0; count < 8; count += 1) void lists.list("greedy", { organization: "one" });
    expect(await lists.list("greedy", { organization: "one" })).to.deep.equal({ reason: "QUEUE_FULL" });
    const sister = lists.list("sister", { organization: "one" });
    for (let count = 0; count < 9; count += 1) await lists.endOne();
    expect(await sister).to.deep.equal(pageOf(0));
    const again = lists.list("greedy", { organization: "one" });
    await lists.endOne();
    expect(await again).to.deep.equal(pageOf(0));
  });

  it("refuse the 33rd list of an organization with many keys, and take that of another organization", async () => {
    const lists = new Lists(1);
    for (let count = 0; count < 32; count += 1) void lists.list(`key${String(count)}`, { organization: "one" });
    expect(await lists.list("one more", { organization: "one" })).to.deep.equal({ reason: "QUEUE_FULL" });
    const modest = lists.list("modest", { organization: "two" });
    await lists.endOne();
    await lists.endOne();
    expect(await modest).to.deep.equal(pageOf(0));
  });

  it("do not begin a list whose deadline has passed", async () => {
    const lists = new Lists(1);
    void lists.list("first");
    const late = lists.list("late", { deadline: NOW });
    const next = lists.list("next");
    await lists.endOne();
    expect(await late).to.deep.equal({ reason: "DEADLINE_EXCEEDED" });
    expect(lists.begun).to.deep.equal(["first", "next"]);
    await lists.endOne();
    await next;
  });

  it("rest after a large page, and then go on; others do not wait", async () => {
    const lists = new Lists(1);
    void lists.list("large", { organization: "one" });
    const next = lists.list("next", { organization: "one" });
    void lists.list("other");
    await lists.endOne(1_000);
    expect(lists.begun).to.deep.equal(["large", "other"]);
    await lists.endOne();
    while (lists.begun.length < 3) await new Promise(setImmediate);
    await lists.endOne();
    expect(await next).to.deep.equal(pageOf(0));
  });

  it("pass on the error of a read, and go on", async () => {
    const { turns } = new Lists(1);
    const caller = { ...admittedWith(apiKey()), deadline: IN_TIME };
    const failed = turns.page(caller, () => Promise.reject(new Error("no database")));
    const next = turns.page(caller, () => Promise.resolve(pageOf(1)));
    expect(await failed.catch((error: unknown) => error)).to.have.property("message", "no database");
    expect(await next).to.deep.equal(pageOf(1));
  });

  it("let a stream wait while its key has too many lists, until the stream ends", async () => {
    const lists = new Lists(1);
    const all = Array.from({ length: 8 }, () => lists.list("greedy", { organization: "one" }));
    const own = apiKey({ id: "greedy" as ApiKeyId, organizationId: "one" as OrganizationId });
    const [goesOn, ends] = [new AbortController(), new AbortController()];
    const ofStream = ({ signal }: AbortController): Result =>
      lists.turns.pageOfStream({ caller: admittedWith(own), signal }, () => Promise.resolve(pageOf(1)));
    const [page, none] = [ofStream(goesOn), ofStream(ends)];
    ends.abort();
    expect(await none).to.deep.equal({ reason: "DEADLINE_EXCEEDED" });
    for (const list of all) {
      await lists.endOne();
      await list;
    }
    expect(await page).to.deep.equal(pageOf(1));
  });
});
