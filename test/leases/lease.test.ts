import { expect } from "chai";

import { Lease } from "../../src/leases/lease.js";
import type { LeaseStore } from "../../src/leases/ports.js";
import { MemoryLeases } from "../attack/simulation/rails/memory-leases.js";
import { ManualTiming, settled } from "../settlement/support/manual-timing.js";

describe("a lease", () => {
  let timing: ManualTiming;
  let store: LeaseStore;
  let errors: unknown[];
  let leases: Lease[];

  beforeEach(() => {
    timing = new ManualTiming();
    store = new MemoryLeases(timing.monotonicMillis);
    errors = [];
    leases = [];
  });

  afterEach(() => Promise.all(leases.map((lease) => lease.stop())));

  function leaseOf(holder: string): Lease {
    const lease = new Lease({
      name: "settlement",
      holder,
      store: {
        take: (name, given) => store.take(name, given),
        release: (name, released) => store.release(name, released),
      },
      timing,
      onError: (error) => errors.push(error),
    });
    leases.push(lease);
    return lease;
  }

  it("belongs to one holder, for 60 seconds from when it asked", async () => {
    const [one, other] = [leaseOf("one"), leaseOf("other")];
    expect(one.leftMillis()).to.be.at.most(0);
    one.start();
    other.start();
    await settled();
    expect(one.leftMillis()).to.equal(60_000);
    expect(other.leftMillis()).to.be.at.most(0);
  });

  it("is renewed every 15 seconds", async () => {
    const lease = leaseOf("one");
    lease.start();
    await timing.pass(14_999);
    expect(lease.leftMillis()).to.equal(45_001);
    await timing.pass(1);
    expect(lease.leftMillis()).to.equal(60_000);
  });

  it("goes to another when its holder does not renew it", async () => {
    const [one, other] = [leaseOf("one"), leaseOf("other")];
    one.start();
    await settled();
    timing.jump(60_000);
    expect(one.leftMillis()).to.equal(0);
    other.start();
    await settled();
    expect(other.leftMillis()).to.equal(60_000);
    await timing.pass(15_000);
    expect(one.leftMillis()).to.be.at.most(0);
  });

  it("counts from before the question: a slow database makes it shorter", async () => {
    const lease = leaseOf("one");
    const take = (): Promise<boolean> => {
      timing.jump(20_000);
      return Promise.resolve(true);
    };
    store = { take, release: () => Promise.resolve() };
    lease.start();
    await settled();
    expect(lease.leftMillis()).to.equal(40_000);
  });

  it("stays until its end while the database fails, and no longer", async () => {
    const lease = leaseOf("one");
    lease.start();
    await settled();
    store = { take: () => Promise.reject(new Error("down")), release: () => Promise.resolve() };
    await timing.pass(45_000);
    expect(lease.leftMillis()).to.equal(15_000);
    expect(errors).to.have.length(3);
    await timing.pass(15_000);
    expect(lease.leftMillis()).to.be.at.most(0);
  });

  it("is given back when it stops, so that another takes it at once", async () => {
    const [one, other] = [leaseOf("one"), leaseOf("other")];
    one.start();
    await settled();
    await one.stop();
    expect(one.leftMillis()).to.be.at.most(0);
    other.start();
    await settled();
    expect(other.leftMillis()).to.equal(60_000);
  });
});
