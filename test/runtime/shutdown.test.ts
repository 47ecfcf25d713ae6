import { once } from "node:events";

import { expect } from "chai";

import { type Program, startProgram, withProgramFile } from "./program.js";

const IMPORTS = { "shutdown.js": ["shutdownSignal", "exitAfter"] };

describe("the shutdown signal", () => {
  /** Runs a program that says when it listens, and exits with the cause on its output. */
  function run(stop: (program: Program) => void) {
    const body = `
      const stopping = shutdownSignal();
      process.send("listening");
      console.log(await stopping);
      process.exit(0);`;
    return withProgramFile(IMPORTS, body, async (file) => {
      const program = startProgram(file);
      await once(program.process, "message");
      stop(program);
      return program.ended;
    });
  }

  for (const [cause, stop] of [
    ["SIGTERM", ({ process }: Program) => process.kill("SIGTERM")],
    ["SIGINT", ({ process }: Program) => process.kill("SIGINT")],
    [
      "disconnect",
      ({ process }: Program) => {
        process.disconnect();
      },
    ],
  ] as const) {
    it(`is ${cause}`, async () => {
      const { exit, stdout, stderr } = await run(stop);
      expect([stdout, exit, stderr]).to.deep.equal([`${cause}\n`, 0, ""]);
    });
  }

  it("is the first cause; a second signal does not kill the process while it stops", async () => {
    const body = `
      const stopping = shutdownSignal();
      process.send("listening");
      const cause = await stopping;
      process.kill(process.pid, "SIGTERM");
      setTimeout(() => { console.log(cause); process.exit(0); }, 50);`;
    const ended = await withProgramFile(IMPORTS, body, async (file) => {
      const { process, ended } = startProgram(file);
      await once(process, "message");
      process.kill("SIGINT");
      return ended;
    });
    expect(ended).to.deep.equal({ exit: 0, stdout: "SIGINT\n", stderr: "" });
  });

  it("is disconnect when the parent has ended before the process listens", async () => {
    const body = `
      process.send("started");
      while (process.connected) await new Promise(setImmediate);
      console.log(await shutdownSignal());
      process.exit(0);`;
    const ended = await withProgramFile(IMPORTS, body, async (file) => {
      const { process, ended } = startProgram(file);
      await once(process, "message");
      process.disconnect();
      return ended;
    });
    expect(ended).to.deep.equal({ exit: 0, stdout: "disconnect\n", stderr: "" });
  });
});

describe("the exit by force", () => {
  const log = "{ error: (message) => console.log(message) }";

  it("ends with 1 a process that hangs, and says so", async () => {
    const body = `exitAfter(10, ${log}); setInterval(() => undefined, 1_000);`;
    const ended = await withProgramFile(IMPORTS, body, (file) => startProgram(file).ended);
    expect(ended).to.deep.equal({ exit: 1, stdout: "the grace period is over: exiting by force\n", stderr: "" });
  });

  it("does not keep a process alive that is done", async () => {
    const body = `exitAfter(600_000, ${log}); process.exitCode = 7;`;
    const ended = await withProgramFile(IMPORTS, body, (file) => startProgram(file).ended);
    expect(ended).to.deep.equal({ exit: 7, stdout: "", stderr: "" });
  });
});
