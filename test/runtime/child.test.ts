import { once } from "node:events";

import { expect } from "chai";

import { type Child, exitsOf, startChild } from "../../runtime/child.js";
import { startProgram, withProgramFile } from "./program.js";

const IMPORTS = { "child.js": ["announceReady"], "shutdown.js": ["shutdownSignal"] };

describe("a child process", () => {
  function withChild<Result>(body: string, use: (child: Child) => Promise<Result>): Promise<Result> {
    return withProgramFile(IMPORTS, body, (program) =>
      use(startChild(program, { name: "test", args: ["127.0.0.1:1"], variables: { PORT: "2" }, nodeOptions: [] })),
    );
  }

  it("says where it serves, and stops when it is asked to", async () => {
    const body = `
      const stopping = shutdownSignal();
      announceReady(process.argv[2] + process.env.PORT);
      await stopping;
      process.exit(0);`;
    await withChild(body, async (child) => {
      expect(await child.ready).to.equal("127.0.0.1:12");
      child.stop();
      expect(await child.exited).to.equal(0);
      // Asked once more, it has gone already.
      child.stop();
      child.kill();
    });
  });

  it("stops though it was asked to before it listened", async () => {
    await withChild("const stopping = shutdownSignal(); await stopping; process.exit(0);", async (child) => {
      child.stop();
      expect(await child.exited).to.equal(0);
    });
  });

  it("is never ready when it exits before, and reports its exit code", async () => {
    await withChild("process.exit(3);", async (child) => {
      expect(await child.ready).to.equal(undefined);
      expect(await child.exited).to.equal(3);
    });
  });

  it("is killed after the grace period, and no other", async () => {
    await withChild("announceReady('x'); setInterval(() => undefined, 1_000);", (stuck) =>
      withChild("announceReady('x'); await shutdownSignal(); process.exit(0);", async (polite) => {
        await Promise.all([stuck.ready, polite.ready]);
        stuck.stop();
        polite.stop();
        await polite.exited;
        expect(await exitsOf([stuck, polite], 50)).to.deep.equal(["SIGKILL", 0]);
      }),
    );
  });

  it("can tell its parent more than its address", async () => {
    await withProgramFile(IMPORTS, 'announceReady("a", { grpcAddress: "b" });', async (file) => {
      const { process, ended } = startProgram(file);
      const [message] = (await once(process, "message")) as [unknown];
      expect(message).to.deep.equal({ kind: "ready", address: "a", grpcAddress: "b" });
      expect((await ended).exit).to.equal(0);
    });
  });
});
