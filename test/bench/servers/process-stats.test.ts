import { spawnSync } from "node:child_process";

import { expect } from "chai";

import { cpuOfTree, cpuTimeOf, residentMebibytes } from "../../../bench/servers/process-stats.js";

const onLinux = process.platform === "linux" ? describe : describe.skip;

onLinux("the figures of a process", () => {
  it("counts the processor time of children that have ended", () => {
    const before = cpuOfTree(process.pid);
    spawnSync(process.execPath, ["-e", "while (process.cpuUsage().user < 200_000);"]);
    expect(cpuOfTree(process.pid) - before).to.be.at.least(150_000);
  });

  it("counts all threads of a process as main or other, and no more than the whole tree", () => {
    const { main, other } = cpuTimeOf(process.pid);
    expect(main).to.be.greaterThan(0);
    expect(cpuOfTree(process.pid)).to.be.at.least(main + other);
  });

  it("has no memory of a process that is not there", () => {
    expect(residentMebibytes(process.pid)).to.be.greaterThan(10);
    expect(residentMebibytes(2 ** 30)).to.deep.equal(NaN);
  });
});
