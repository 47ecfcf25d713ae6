import { expect } from "chai";

import type { ApiKeyId, OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { admittedWith } from "../../../src/grpc/calls/key-gate.js";
import { done, type RpcResult } from "../../../src/grpc/calls/rpc-result.js";
import { ChangeTurns } from "../../../src/grpc/services/webhooks/change-turns.js";
import { apiKey } from "../../support/service/grpc-server.js";

const NOW = toUnixMillis(1_000);
const IN_TIME = toUnixMillis(2_000);

/** Changes that wait until the test ends them. */
class Changes {
  readonly turns = new ChangeTurns(() => NOW);
  /** The names of the changes that began, in their order. */
  readonly begun: string[] = [];
  readonly #ends: (() => void)[] = [];

  change(
    name: string,
    { organization = name, cell = 0, deadline = IN_TIME } = {},
  ): Promise<RpcResult<{ readonly name: string }>> {
    const key = apiKey({ id: name as ApiKeyId, organizationId: organization as OrganizationId, cell });
    return this.turns.run({ ...admittedWith(key), deadline }, () => {
      this.begun.push(name);
      return new Promise((resolve) => {
        this.#ends.push(() => {
          resolve(done({ name }));
        });
      });
    });
  }

  /** Ends the oldest change that is under way. */
  async endOne(): Promise<void> {
    this.#ends.shift()?.();
    await new Promise(setImmediate);
  }
}

describe("the turns of changes", () => {
  it("let one change of a cell run at a time, and those of another cell meanwhile", async () => {
    const changes = new Changes();
    const first = changes.change("a");
    void changes.change("b");
    void changes.change("elsewhere", { cell: 1 });
    expect(changes.begun).to.deep.equal(["a", "elsewhere"]);
    await changes.endOne();
    expect(changes.begun).to.deep.equal(["a", "elsewhere", "b"]);
    expect(await first).to.deep.equal(done({ name: "a" }));
  });

  it("go from organization to organization, and let each rest after its change", async () => {
    const changes = new Changes();
    for (let count = 0; count < 3; count += 1) void changes.change("greedy", { organization: "one" });
    void changes.change("modest", { organization: "two" });
    await changes.endOne();
    await changes.endOne();
    // The greedy organization rests, although nobody else wants to change anything.
    expect(changes.begun).to.deep.equal(["greedy", "modest"]);
    while (changes.begun.length < 3) await new Promise(setImmediate);
    expect(changes.begun).to.deep.equal(["greedy", "modest", "greedy"]);
  });

  it("refuse the ninth change of a key", async () => {
    const changes = new Changes();
    for (let count = 0; count < 8; count += 1) void changes.change("greedy");
    const refused = { kind: "refused", refusal: { reason: "QUEUE_FULL" } };
    expect(await changes.change("greedy")).to.deep.equal(refused);
    expect(changes.begun).to.deep.equal(["greedy"]);
  });

  it("do not begin a change whose deadline has passed", async () => {
    const changes = new Changes();
    void changes.change("first");
    const late = changes.change("late", { deadline: NOW });
    await changes.endOne();
    expect(await late).to.deep.equal({ kind: "refused", refusal: { reason: "DEADLINE_EXCEEDED" } });
    expect(changes.begun).to.deep.equal(["first"]);
  });
});
