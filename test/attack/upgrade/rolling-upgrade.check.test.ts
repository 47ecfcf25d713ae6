import { expect } from "chai";

import { sharedPostgres } from "../../support/postgres.js";
import { KESC } from "../../support/service/kesc.js";
import { Random } from "../random.js";
import { makeNextBuild } from "./next-build.js";
import { rollingUpgrade } from "./rolling-upgrade.js";

// It starts the service a dozen times: a minute on a quiet machine.
const MILLIS_MAX = 300_000;

describe("an upgrade to the next release, server by server, under load", () => {
  it("fails no call that is repeated as documented, and loses and doubles nothing", async function () {
    this.timeout(MILLIS_MAX);
    const result = await rollingUpgrade({
      databaseUrl: await (await sharedPostgres()).createDatabase(),
      oldProgram: KESC,
      newProgram: makeNextBuild(),
      millisPerStep: 200,
      random: new Random(1),
      onStep: () => undefined,
    });
    expect(result.failed).to.deep.equal([]);
    const { lost, doubled, wrong, checked } = result.audit;
    expect({ lost, doubled, wrong }).to.deep.equal({ lost: [], doubled: [], wrong: [] });
    expect(checked).to.be.greaterThan(0);
    expect(result.reads).to.be.greaterThan(0);
    expect(result.verify.code, result.verify.stdout).to.equal(0);
  });
});
