import { setImmediate as nextTurn } from "node:timers/promises";

import { expect } from "chai";

import { PayoutChecks } from "../../src/checks/checks.js";
import {
  FAILING_RUNS_MAX,
  LEASE_LEFT_MILLIS_MIN,
  RUNS_MAX,
  TRIES_MAX,
  TRY_MILLIS_MAX,
  UNDER_WAY_MAX,
} from "../../src/checks/limits.js";
import type { CheckedPayout, CheckStore, ServiceReply } from "../../src/checks/ports.js";
import type { OrganizationId, TransactionId } from "../../src/domain/values/ids.js";
import type { PhoneNumber } from "../../src/domain/values/phone-number.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { givenPending } from "../support/given.js";
import { newAccountId, newOrganizationId, newTransactionId } from "../support/names.js";
import { STANDING_CHECK } from "../support/operations/payouts.js";

const DEADLINE_SECONDS = 15;
const NUMBER = "+254712345678" as PhoneNumber;
const ALLOWED: ServiceReply = { answer: "ALLOW", code: undefined, exchangeSha256: "a" };
const SILENT: ServiceReply = { problem: "no whole response within 5 seconds" };

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/** The checks over a store in memory, with a clock that the test moves. */
class World {
  now = 1_000_000;
  leaseMillis = 60_000;
  /** The row that has set the checks. */
  seq = 1;
  readonly payouts = new Map<OrganizationId, TransactionId[]>();
  readonly cleared = new Set<OrganizationId>();
  /** The payouts whose rows somebody has changed. */
  readonly changed = new Set<TransactionId>();
  readonly asked: { readonly at: number; readonly id: TransactionId; readonly of: OrganizationId }[] = [];
  readonly decided: { readonly at: number; readonly id: TransactionId; readonly answer: string }[] = [];
  readonly underWay = new Map<OrganizationId, number>();
  readonly errors: unknown[] = [];
  atOnce = 0;
  /** How a service answers, after how long. */
  answer: (of: OrganizationId) => readonly [millis: number, ServiceReply] = () => [10, ALLOWED];
  readonly #sleepers: Sleeper[] = [];
  readonly #checks: PayoutChecks;

  constructor() {
    const store: CheckStore = {
      organizations: () => Promise.resolve([...this.payouts].flatMap(([id, all]) => (all.length > 0 ? [id] : []))),
      standing: (organizationId) => {
        const check = { ...STANDING_CHECK, seq: this.seq, organizationId, deadlineSeconds: DEADLINE_SECONDS };
        return Promise.resolve(this.cleared.has(organizationId) ? undefined : { check, secrets: [] });
      },
      waiting: (organizationId, limit) => {
        const all = this.payouts.get(organizationId) ?? [];
        return Promise.resolve(all.slice(0, limit).map((id) => ({ id, acceptedAt: toUnixMillis(0) })));
      },
      payout: (_, id): Promise<CheckedPayout | undefined> => {
        const payout = { ...givenPending({ accountId: newAccountId() }), id, kind: "PHONE", number: NUMBER } as const;
        return Promise.resolve(this.changed.has(id) ? undefined : payout);
      },
    };
    const timing = {
      now: () => toUnixMillis(this.now),
      monotonicMillis: () => this.now,
      wait: (millis: number) => this.#sleep(millis),
    };
    this.#checks = new PayoutChecks({
      store,
      timing,
      lease: { leftMillis: () => this.leaseMillis },
      ask: (standing, payout) => this.#ask(standing.check.organizationId, (payout as CheckedPayout).id),
      decide: (organizationId, id, { answer }) => {
        this.decided.push({ at: this.now, id, answer });
        const left = this.payouts.get(organizationId)?.filter((each) => each !== id) ?? [];
        this.payouts.set(organizationId, left);
        return Promise.resolve();
      },
      onDecided: () => undefined,
      onError: (error) => this.errors.push(error),
    });
    this.#checks.start();
  }

  /** Adds payouts that wait. Returns their organization. */
  wait(count: number): OrganizationId {
    const id = newOrganizationId();
    this.payouts.set(id, Array.from({ length: count }, newTransactionId));
    return id;
  }

  async run(millis: number): Promise<void> {
    const end = this.now + millis;
    for (;;) {
      for (let turn = 0; turn < 3; turn += 1) await nextTurn();
      const next = this.#sleepers.toSorted((one, other) => one.until - other.until)[0];
      if (next === undefined || next.until > end) break;
      this.#sleepers.splice(this.#sleepers.indexOf(next), 1);
      this.now = next.until;
      next.wake();
    }
    this.now = end;
  }

  async stop(): Promise<void> {
    const stopped = this.#checks.stop();
    await this.run(60_000);
    await stopped;
    expect(this.errors).to.deep.equal([]);
  }

  #sleep(millis: number): Promise<void> {
    return new Promise((wake) => {
      this.#sleepers.push({ until: this.now + millis, wake });
    });
  }

  async #ask(of: OrganizationId, id: TransactionId): Promise<ServiceReply> {
    this.asked.push({ at: this.now, id, of });
    const [millis, asked] = this.answer(of);
    const now = (this.underWay.get(of) ?? 0) + 1;
    this.underWay.set(of, now);
    this.atOnce = Math.max(this.atOnce, now);
    await this.#sleep(millis);
    this.underWay.set(of, (this.underWay.get(of) ?? 1) - 1);
    return asked;
  }
}

describe("the checks of payouts", () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });
  afterEach(() => world.stop());

  it("ask about each payout once, and note the answer", async () => {
    world.wait(40);
    await world.run(5_000);
    expect(world.decided.map(({ answer }) => answer)).to.deep.equal(Array(40).fill("ALLOW"));
    expect(world.asked).to.have.length(40);
    expect(world.atOnce).to.equal(UNDER_WAY_MAX);
  });

  it("ask a silent service three times within the deadline, and then note that there is no answer", async () => {
    world.answer = () => [TRY_MILLIS_MAX, SILENT];
    world.wait(1);
    await world.run(20_000);
    const [first] = world.asked;
    const waits = world.asked.map(({ at }) => at - (first?.at ?? 0));
    expect(waits).to.have.length(TRIES_MAX);
    expect(waits[2]).to.be.at.most(DEADLINE_SECONDS * 1_000 - TRY_MILLIS_MAX + 1_000);
    expect(world.decided.map(({ answer }) => answer)).to.deep.equal(["NO_ANSWER"]);
  });

  it("end the wait of all others, too, once a service is silent for the whole deadline", async () => {
    world.answer = () => [TRY_MILLIS_MAX, SILENT];
    world.wait(2_000);
    await world.run(60_000);
    expect(world.decided).to.have.length(2_000);
    expect(new Set(world.decided.map(({ answer }) => answer))).to.deep.equal(new Set(["NO_ANSWER"]));
    // Nobody was asked 2,000 times.
    expect(world.asked.length).to.be.below(30);
  });

  it("give a silent service one request at a time, and all of them together a part of the room", async () => {
    world.answer = () => [TRY_MILLIS_MAX, SILENT];
    const silent = Array.from({ length: 40 }, () => world.wait(1_000));
    let most = 0;
    for (let second = 0; second < 200; second += 1) {
      await world.run(100);
      const busy = silent.map((id) => world.underWay.get(id) ?? 0);
      if (world.now > 1_000_000 + 17_000)
        most = Math.max(
          most,
          busy.reduce((sum, each) => sum + each, 0),
        );
    }
    expect(most).to.be.within(1, FAILING_RUNS_MAX);
    expect(FAILING_RUNS_MAX).to.be.below(RUNS_MAX / 2);
  });

  it("let no other organization wait for silent ones", async () => {
    const silent = new Set(Array.from({ length: 40 }, () => world.wait(1_000)));
    world.answer = (of) => (silent.has(of) ? [TRY_MILLIS_MAX, SILENT] : [10, ALLOWED]);
    await world.run(30_000);
    const other = world.wait(20);
    await world.run(2_000);
    expect(world.payouts.get(other)).to.deep.equal([]);
  });

  it("let no other organization wait for services that answer slowly", async () => {
    const slow = new Set(Array.from({ length: RUNS_MAX }, () => world.wait(1_000)));
    world.answer = (of) => [slow.has(of) ? TRY_MILLIS_MAX - 1 : 10, ALLOWED];
    await world.run(30_000);
    const others = Array.from({ length: RUNS_MAX }, () => world.wait(20));
    await world.run(2 * TRY_MILLIS_MAX + 2_000);
    expect(others.flatMap((id) => world.payouts.get(id) ?? [])).to.deep.equal([]);
    // The slow ones have their turns, too.
    const asked = new Set(world.asked.filter(({ at }) => at > 1_000_000 + 30_000).map(({ of }) => of));
    expect([...slow].filter((id) => !asked.has(id))).to.deep.equal([]);
  });

  it("ask again at full speed once a service answers", async () => {
    world.answer = () => [TRY_MILLIS_MAX, SILENT];
    world.wait(200);
    await world.run(6_000);
    world.answer = () => [10, ALLOWED];
    world.atOnce = 0;
    await world.run(8_000);
    expect(world.atOnce).to.equal(UNDER_WAY_MAX);
    expect(world.decided.filter(({ answer }) => answer === "ALLOW").length).to.equal(200);
  });

  it("know nothing of a service that takes the place of one that failed", async () => {
    world.answer = () => [TRY_MILLIS_MAX, SILENT];
    world.wait(40);
    await world.run(DEADLINE_SECONDS * 1_000 - 1_000);
    world.seq += 1;
    world.atOnce = 0;
    world.decided.length = 0;
    await world.run(DEADLINE_SECONDS * 1_000 - 2_000);
    expect([world.atOnce, world.decided]).to.deep.equal([UNDER_WAY_MAX, []]);
  });

  it("note that nobody answers where the check was cleared", async () => {
    const id = world.wait(3);
    world.cleared.add(id);
    await world.run(1_000);
    expect(world.decided.map(({ answer }) => answer)).to.deep.equal(["NO_ANSWER", "NO_ANSWER", "NO_ANSWER"]);
    expect(world.asked).to.deep.equal([]);
  });

  it("ask nobody about a payout that somebody has changed in the database", async () => {
    const id = world.wait(2);
    const [changed] = world.payouts.get(id) ?? [];
    if (changed !== undefined) world.changed.add(changed);
    await world.run(1_000);
    expect(world.asked.map((each) => each.id)).not.to.include(changed);
    expect(world.decided).to.have.length(1);
  });

  it("ask nobody without enough of the lease", async () => {
    world.leaseMillis = LEASE_LEFT_MILLIS_MIN - 1;
    world.wait(3);
    await world.run(5_000);
    expect(world.asked).to.deep.equal([]);
  });
});
