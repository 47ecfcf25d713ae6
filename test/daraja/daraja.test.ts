import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { expect } from "chai";

import { tableUnder } from "../support/documents/table.js";
import { eventually } from "../support/eventually.js";
import { Client } from "./client.js";
import { ManualClock, wait, WallClock } from "./clock.js";
import { startDaraja } from "./daraja.js";
import { scenarioRows } from "./page.js";

describe("the Daraja simulator", () => {
  it("gives the same ids and receipts for the same seed, and others for another", async () => {
    const receiptsOf = async (seed: string): Promise<string[]> => {
      const client = await Client.start({ seed });
      try {
        await client.push("254700000000");
        await client.payOut("254100000000");
        await client.clock.advance(5_000);
        return client.daraja.receipts.map(({ number }) => number);
      } finally {
        await client.close();
      }
    };
    const first = await receiptsOf("a");
    expect(new Set(first)).to.have.property("size", 2);
    expect(await receiptsOf("a")).to.deep.equal(first);
    expect(await receiptsOf("b")).not.to.deep.equal(first);
  });

  it("holds its answers back, as long as it is told to, after it has accepted the order", async () => {
    const client = await Client.start();
    try {
      client.daraja.answerDelayMillis = 5_000;
      let answered = false;
      const answer = client.payOut("254100000000").then((one) => {
        answered = true;
        return one;
      });
      await eventually(() => client.daraja.orders.length === 1);
      await client.clock.advance(4_999);
      expect(answered).to.equal(false);
      await client.clock.advance(1);
      expect((await answer).status).to.equal(200);
    } finally {
      await client.close();
    }
  });

  it("can be offline for a while, in which what it has accepted happens", async () => {
    const client = await Client.start();
    try {
      await client.push("254700000000");
      await client.daraja.goOffline();
      expect(await client.push("254700000020").catch((error: unknown) => error)).to.be.instanceOf(TypeError);
      await client.clock.advance(5_000);
      expect(client.received).to.have.length(1);
      await client.daraja.listen();
      expect((await client.push("254700000020")).status).to.equal(200);
      expect(client.daraja.orders).to.have.length(2);
    } finally {
      await client.close();
    }
  });

  it("counts a callback that nobody took, and does not send it again", async () => {
    const gone = await Client.start();
    const CallBackURL = gone.urlOf("/callbacks/a0");
    await gone.close();
    const client = await Client.start();
    try {
      await client.push("254700000000", { CallBackURL });
      await client.clock.advance(600_000);
      expect(client.daraja.callbacks).to.have.length(1);
      expect(client.daraja.callbacks[0]?.status).to.equal(undefined);
    } finally {
      await client.close();
    }
  });

  it("shows on its page what it holds, with every character escaped", async () => {
    const client = await Client.start();
    try {
      await client.push("254700000000", { AccountReference: "<b>&" });
      await client.clock.advance(5_000);
      const response = await fetch(client.daraja.url);
      expect(response.headers.get("content-type")).to.equal("text/html; charset=utf-8");
      const page = await response.text();
      expect(page).to.contain(client.daraja.receipts[0]?.number);
      expect(page).to.contain("<td>1000100.00</td>");
      expect(page).to.contain("<td>&#60;b&#62;&#38;</td>");
      expect(page).not.to.contain("<b>");
    } finally {
      await client.close();
    }
  });

  it("runs as a program, which prints what a client needs", async () => {
    const child = spawn(process.execPath, ["dist/test/daraja/main.js", "--port", "0"], { stdio: "pipe" });
    const exited = new Promise((resolve) => child.once("exit", resolve));
    try {
      const lines: string[] = [];
      for await (const line of createInterface(child.stdout)) {
        lines.push(line);
        if (line.startsWith("Other endings")) break;
      }
      const settings = Object.fromEntries(lines.map((line) => [line.slice(0, 20).trim(), line.slice(20)]));
      const credentials = `${String(settings["consumer key"])}:${String(settings["consumer secret"])}`;
      const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
      const [url = ""] = settings["URL"]?.split(" ") ?? [];
      const path = "/oauth/v1/generate?grant_type=client_credentials";
      expect((await fetch(`${url}${path}`, { headers: { authorization } })).status).to.equal(200);
      expect(settings["shortcode"]).to.equal("174379");
    } finally {
      child.kill("SIGTERM");
    }
    expect(await exited).to.equal(0);
  });

  it("stops its clock and its callbacks when it is closed", async () => {
    const daraja = await startDaraja();
    let ran = false;
    daraja.clock.after(1, () => {
      ran = true;
      return Promise.resolve();
    });
    await daraja.close();
    await wait(new WallClock(), 20);
    expect(ran).to.equal(false);
  });

  it("has its scenarios in docs/mpesa.md", () => {
    const rows = tableUnder("### Scenarios", "docs/mpesa.md");
    expect(rows).to.deep.equal(scenarioRows());
  });
});

describe("the simulator's clock", () => {
  it("runs actions in the order of their times, each after the one before has ended", async () => {
    const clock = new ManualClock(0);
    const seen: string[] = [];
    const note = (name: string) => async (): Promise<void> => {
      await wait(new WallClock(), 1);
      seen.push(`${name} at ${String(clock.nowMillis())}`);
    };
    clock.after(20, note("c"));
    clock.after(10, note("a"));
    clock.after(10, note("b"));
    clock.after(10, async () => {
      clock.after(5, note("nested"));
      return Promise.resolve();
    });
    await clock.advance(20);
    expect(seen).to.deep.equal(["a at 10", "b at 10", "nested at 15", "c at 20"]);
    await clock.advance(100);
    expect(seen).to.have.length(4);
    expect(clock.nowMillis()).to.equal(120);
  });
});
