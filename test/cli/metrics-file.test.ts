import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import { checkJobs } from "../../src/cli/doctor/jobs.js";
import { lastRunsIn } from "../../src/cli/metrics-file.js";
import { kesc, Place } from "../support/service/kesc.js";

describe("the jobs with --metrics-file", () => {
  let place: Place;
  const file = (name: string): string => join(place.folder, name);
  before(async () => {
    place = await Place.migrated();
  });
  after(() => {
    place.remove();
  });

  it("note when they ended, and what the audit found", async () => {
    const from = Math.floor(Date.now() / 1_000);
    const verified = await kesc(["verify", "--full-speed", "--metrics-file", file("verify.prom")], place.variables);
    expect(verified.code).to.equal(0);
    const backedUp = await kesc(["backup", file("copy.db"), "--metrics-file", file("backup.prom")], place.variables);
    expect(backedUp.code).to.equal(0);
    expect((await kesc(["purge", "--metrics-file", file("purge.prom")], place.variables)).code).to.equal(0);
    expect((await kesc(["seal", "rotate"], place.variables)).code).to.equal(0);
    const publish = ["seal", "publish", file("published"), "--metrics-file", file("publish.prom")];
    expect((await kesc(publish, place.variables)).code).to.equal(0);
    expect(readFileSync(file("verify.prom"), "utf8")).to.match(/^kesc_last_verify_findings 0$/m);
    const runs = lastRunsIn(place.folder);
    expect([...runs.keys()]).to.have.members(["backup", "verify", "purge", "seal publish"]);
    for (const at of runs.values()) expect(at).to.be.at.least(from * 1_000);
    expect(existsSync(file("verify.prom.part"))).to.equal(false);
  });

  it("tell kesc doctor when each ended last", async () => {
    const old = Math.floor(Date.now() / 1_000) - 27 * 3_600;
    writeFileSync(file("purge.prom"), `kesc_job_last_run_timestamp_seconds{command="purge"} ${String(old)}\n`);
    const { stdout } = await kesc(["doctor", "--metrics", place.folder, "--json"], place.variables);
    const { findings } = JSON.parse(stdout) as {
      findings: readonly { check: string; state: string; meaning: string }[];
    };
    const jobs = findings.filter(({ check }) => check.startsWith("kesc "));
    expect(jobs.map(({ check, state }) => `${check}: ${state}`)).to.deep.equal([
      "kesc backup: ok",
      "kesc verify: ok",
      "kesc seal publish: ok",
      "kesc purge: warn",
    ]);
    expect(jobs[3]?.meaning).to.equal("It ended 27 hours ago.");
    const nowhere = await kesc(["doctor", "--metrics", file("nowhere")], place.variables);
    expect(nowhere.stdout).to.match(/^fail +jobs .*ENOENT/m);
  });

  it("are those of the organizations: kesc reconcile is missed only where there is M-Pesa", () => {
    const missed = (hasMpesa: boolean): readonly string[] =>
      [checkJobs({ engine: "sqlite" }, { folder: place.folder, now: Date.now(), hasMpesa })]
        .flat()
        .filter(({ meaning }) => meaning === `No file in ${place.folder} says that it ever ended.`)
        .map(({ check }) => check);
    expect(missed(true)).to.deep.equal(["kesc reconcile"]);
    expect(missed(false)).to.deep.equal([]);
  });

  it("note nothing of a backup that was not made", async () => {
    const { code } = await kesc(["backup", file("copy.db"), "--metrics-file", file("no.prom")], place.variables);
    expect(code).not.to.equal(0);
    expect(existsSync(file("no.prom"))).to.equal(false);
  });

  it("say that the file cannot be written", async () => {
    const { code, stderr } = await kesc(["verify", "--metrics-file", file("no/where")], place.variables);
    expect(code).to.equal(3);
    expect(stderr).to.match(/^The metrics file .*no\/where cannot be written: ENOENT/m);
  });
});
