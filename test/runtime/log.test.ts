import { expect } from "chai";

import { startProgram, withProgramFile } from "./program.js";

describe("the log", () => {
  const IMPORTS = { "log.js": ["flushLog", "openLog"] };

  async function run(body: string) {
    const { exit, stdout, stderr } = await withProgramFile(IMPORTS, body, (file) => startProgram(file).ended);
    const lines = stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    return { exit, lines, stderr };
  }

  it("is complete and in order when the process exits, however much there is of it", async () => {
    const { exit, lines } = await run(`
      const log = openLog("info");
      for (let turn = 0; turn < 20; turn += 1) {
        for (let line = 0; line < 100; line += 1) log.info({ turn, line }, "x".repeat(200));
        await new Promise(setImmediate);
      }
      log.debug("not at this level");
      await flushLog(log);
      process.exit(0);`);
    expect(exit).to.equal(0);
    const expected = Array.from({ length: 2_000 }, (_, index) => [Math.floor(index / 100), index % 100]);
    expect(lines.map(({ turn, line }) => [turn, line])).to.deep.equal(expected);
    expect(lines[0]).to.include.keys("time", "level", "msg").and.not.include.keys("pid", "hostname");
    expect(lines[0]).to.include({ level: "info" });
  });

  it("writes a line within a second, without a flush", async () => {
    const { exit, lines } = await run(`
      openLog("info").info("first");
      setTimeout(() => process.kill(process.pid, "SIGKILL"), 1_500);`);
    // SIGKILL leaves no time for a last flush.
    expect([exit, lines.map(({ msg }) => msg)]).to.deep.equal(["SIGKILL", ["first"]]);
  });

  it("has the trace of an uncaught exception, and none of the properties of the error", async () => {
    const { exit, lines, stderr } = await run(`
      openLog("info");
      setImmediate(() => { throw Object.assign(new Error("broken"), { detail: "+254712345678" }); });
      setInterval(() => undefined, 1_000);`);
    expect([exit, stderr]).to.deep.equal([1, ""]);
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.include({ level: "fatal", msg: "uncaught exception: exiting at once" });
    expect(lines[0]?.["trace"]).to.match(/^Error: broken\n +at /);
    expect(JSON.stringify(lines)).to.not.contain("254712345678");
  });

  it("loses its lines and nothing else when nobody reads it", async () => {
    const ended = await withProgramFile(
      IMPORTS,
      `const log = openLog("info");
      for (let turn = 0; turn < 100; turn += 1) {
        log.info("x".repeat(10_000));
        await new Promise((resolve) => log.flush(resolve));
      }
      await flushLog(log);
      process.exit(7);`,
      (file) => {
        const program = startProgram(file);
        program.process.stdout?.destroy();
        return program.ended;
      },
    );
    expect([ended.exit, ended.stderr]).to.deep.equal([7, ""]);
  });
});
