import { expect } from "chai";

import { BoundedReading } from "../../../runtime/metrics/bounded-reading.js";

describe("a bounded reading", () => {
  let clock: number;
  let reads: { readonly resolve: (value: string) => void; readonly reject: (error: Error) => void }[];
  let errors: unknown[];
  let reading: BoundedReading<string>;
  beforeEach(() => {
    clock = 0;
    reads = [];
    errors = [];
    reading = new BoundedReading({
      read: () => new Promise((resolve, reject) => reads.push({ resolve, reject })),
      everyMillis: 100,
      waitMillis: 1,
      keepMillis: 1_000,
      monotonicMillis: () => clock,
      onError: (error) => errors.push(error),
    });
  });

  const readAs = async (value: string): Promise<string | undefined> => {
    const asked = reading.value();
    reads.at(-1)?.resolve(value);
    return asked;
  };

  it("is shared by all who ask at once", async () => {
    const asked = Array.from({ length: 100 }, () => reading.value());
    expect(reads).to.have.length(1);
    reads[0]?.resolve("first");
    expect(new Set(await Promise.all(asked))).to.deep.equal(new Set(["first"]));
  });

  it("is made anew only after its time", async () => {
    await readAs("first");
    clock = 99;
    expect(await reading.value()).to.equal("first");
    expect(reads).to.have.length(1);
    clock = 100;
    expect(await readAs("second")).to.equal("second");
    expect(reads).to.have.length(2);
  });

  it("never runs twice at a time, and shows the last value while it is slow, and then none", async () => {
    await readAs("first");
    clock = 200;
    expect(await reading.value()).to.equal("first");
    clock = 900;
    expect(await reading.value()).to.equal("first");
    expect(reads).to.have.length(2);
    clock = 1_001;
    expect(await reading.value()).to.equal(undefined);
    expect(reads).to.have.length(2);
  });

  it("reports a failure, waits its time, and tries again", async () => {
    const asked = reading.value();
    reads[0]?.reject(new Error("the disk is gone"));
    expect(await asked).to.equal(undefined);
    expect(String(errors)).to.equal("Error: the disk is gone");
    expect(await reading.value()).to.equal(undefined);
    expect(reads).to.have.length(1);
    clock = 100;
    expect(await readAs("again")).to.equal("again");
  });
});
