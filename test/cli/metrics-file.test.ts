import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import { kesc, Place } from "../support/service/kesc.js";

describe("kesc backup and kesc verify with --metrics-file", () => {
  const place = new Place();
  const file = (name: string): string => join(place.folder, name);
  before(async () => {
    expect((await kesc(["migrate"], place.variables)).code).to.equal(0);
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
    const numberIn = (name: string, metric: string): number =>
      Number(new RegExp(`^${metric} (\\d+)$`, "m").exec(readFileSync(file(name), "utf8"))?.[1]);
    expect(numberIn("verify.prom", "kesc_last_verify_findings")).to.equal(0);
    expect(numberIn("verify.prom", "kesc_last_verify_timestamp_seconds")).to.be.at.least(from);
    expect(numberIn("backup.prom", "kesc_last_backup_timestamp_seconds")).to.be.at.least(from);
    expect(existsSync(file("verify.prom.part"))).to.equal(false);
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
