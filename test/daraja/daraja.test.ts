import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

import { expect } from "chai";

import { SimulatorClock, wait } from "../../daraja/clock.js";
import { keep, KEPT_MAX } from "../../daraja/kept.js";
import { scenarioRows } from "../../daraja/page.js";
import { startDaraja } from "../../daraja/simulator.js";
import { itemsUnder } from "../support/documents/sections.js";
import { eventually } from "../support/eventually.js";
import { Client } from "./client.js";
import { CERTIFICATE_FILE } from "./given.js";

describe("the Daraja simulator", () => {
  it("gives the same ids and receipts for the same seed, and others for another", async () => {
    const receiptsOf = async (seed: string): Promise<string[]> => {
      const client = await Client.start({ seed });
      try {
        await client.push("254700000000");
        await client.payOut("254110000000");
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
      const answer = client.payOut("254110000000").then((one) => {
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
      expect(await client.push("254700000030").catch((error: unknown) => error)).to.be.instanceOf(TypeError);
      await client.clock.advance(5_000);
      expect(client.received).to.have.length(1);
      await client.daraja.listen();
      expect((await client.push("254700000030")).status).to.equal(200);
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

  it("takes a payment by hand at a form, and leads back to its page", async () => {
    const client = await Client.start();
    const send = (fields: Record<string, string>): Promise<Response> => {
      const body = new URLSearchParams(fields);
      return fetch(`${client.daraja.url}/pay`, { method: "POST", body, redirect: "manual" });
    };
    try {
      expect(await (await fetch(client.daraja.url)).text()).to.contain('<a href="/pay">');
      const form = await (await fetch(`${client.daraja.url}/pay`)).text();
      expect(form).not.to.contain("refresh");
      const names = [...form.matchAll(/<(?:input|select) name="(\w+)"/g)].map(([, name]) => name);
      const payment = { phone_number: "254712345678", amount: "70", account_reference: "shop 7", shortcode: "174379" };
      expect(names).to.deep.equal(Object.keys(payment));

      const paid = await send(payment);
      expect([paid.status, paid.headers.get("location")]).to.deep.equal([303, "/"]);
      expect(client.daraja.receipts[0]).to.include({ amountCents: 7_000, accountReference: "shop 7" });

      for (const [differing, problem] of [
        [{ phone_number: "0712345678" }, "Phone number must be 2547 or 2541 and eight digits."],
        [{ amount: "7.5" }, "Amount must be whole shillings from 1 to 1000000."],
        [{ account_reference: "x".repeat(21) }, "Account number must have at most 20 characters"],
        [{ shortcode: "600000" }, "Shortcode must be one of the simulator's."],
      ] as const) {
        const refused = await send({ ...payment, account_reference: '"<b>', ...differing });
        expect(refused.status).to.equal(400);
        const page = await refused.text();
        expect(page).to.contain(problem);
        expect(page).to.contain(`value="${"phone_number" in differing ? differing.phone_number : "254712345678"}"`);
        if (!("account_reference" in differing)) expect(page).to.contain('value="&#34;&#60;b&#62;"');
      }

      expect(await (await send({ padding: "x".repeat(70_000) })).text()).to.contain("at most 64 KiB");

      await client.registerUrls();
      client.daraja.organization.isValidationActive = true;
      client.answers.set("/validations", { body: '{"ResultCode":"C2B00013"}' });
      const refused = await send(payment);
      expect(refused.status).to.equal(409);
      expect(await refused.text()).to.contain("The ValidationURL refused the payment: C2B00013, Invalid Amount.");
      expect(client.daraja.receipts).to.have.length(1);
    } finally {
      await client.close();
    }
  });

  it("runs as kesc daraja, which prints what a client needs", async () => {
    const child = spawn(process.execPath, ["dist/bin/kesc.js", "daraja", "--port", "0"], { stdio: "pipe" });
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

      const { port } = new URL(url);
      const second = await promisify(execFile)(process.execPath, ["dist/bin/kesc.js", "daraja", "--port", port]).catch(
        (error: unknown) => error,
      );
      expect(second)
        .to.have.property("stderr")
        .that.matches(/^The simulator cannot start: .*EADDRINUSE/);
    } finally {
      child.kill("SIGTERM");
    }
    expect(await exited).to.equal(0);
  });

  it("tells a program what it holds, and takes payments without a prompt", async () => {
    const client = await Client.start();
    try {
      const { CheckoutRequestID } = (await client.push("254700000000")).body ?? {};
      expect((await client.control(""))["orders"]).to.deep.include.members([
        {
          accepted_at: "2026-01-05T06:00:00.000Z",
          product: "stk_push",
          id: CheckoutRequestID,
          phone_number: "254700000000",
          amount: 100,
          account_reference: "INVOICE-1",
          scenario: "success",
          queries: 0,
          result_code: null,
          receipt: null,
        },
      ]);
      expect(await client.control("/clock", { advance_seconds: 5 })).to.deep.equal({
        status: 200,
        now: "2026-01-05T06:00:05.000Z",
      });
      expect(client.received).to.have.length(1);

      const payment = { phone_number: "254712345678", amount: 70, account_reference: "shop 7" };
      const paid = await client.control("/payments", payment);
      expect(paid).to.include({ status: 201, direction: "in", shortcode: "174379", ...payment });
      const state = await client.control("");
      expect(state).to.have.nested.property("receipts[0].receipt", paid["receipt"]);
      expect(state).to.have.nested.property("organizations[0].utility", 1_000_170);
      expect(state).to.have.nested.property("customers[0].balance", 199_930);
      expect(state).to.have.nested.property("callbacks[0].answered", 200);
      for (const [path, body, problem] of [
        ["/payments", { ...payment, phone_number: "0712345678" }, /^phone_number must be 2547/],
        ["/payments", { ...payment, amount: "70" }, /^amount must be whole shillings/],
        [
          "/payments",
          { ...payment, account_reference: "x".repeat(21) },
          /^account_reference must have at most 20 characters/,
        ],
        ["/payments", { ...payment, shortcode: "600000" }, /^shortcode must/],
        ["/payments", { ...payment, padding: "x".repeat(70_000) }, /^the body must be a JSON object/],
        ["/clock", { advance_seconds: -1 }, /^advance_seconds must/],
      ] as const) {
        const refused = await client.control(path, body);
        expect(refused["status"]).to.equal(400);
        expect(refused["error"]).to.match(problem);
      }
      expect(await client.control("/orders")).to.include({ status: 404 });
      const certificate = await fetch(`${client.daraja.url}/simulator/certificate`);
      expect(await certificate.text()).to.equal(readFileSync(CERTIFICATE_FILE, "utf8"));
    } finally {
      await client.close();
    }
  });

  it("answers the requests of docs/daraja.md", async () => {
    const daraja = await startDaraja();
    try {
      const blocks = [...readFileSync("docs/daraja.md", "utf8").matchAll(/```bash\n([^]*?)```/g)].map(
        ([, block]) => block,
      );
      const script = blocks.join("echo\n").replaceAll("http://127.0.0.1:8090", daraja.url);
      const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script]);
      const [pushed = "", advanced = "", accepted = ""] = stdout.split("\n");
      expect(JSON.parse(pushed)).to.include({ ResponseCode: "0" });
      expect(JSON.parse(advanced)).to.have.property("now");
      expect(JSON.parse(accepted)).to.include({ OriginatorConversationID: "payout-1", ResponseCode: "0" });
      await fetch(`${daraja.url}/simulator/clock`, { method: "POST", body: '{"advance_seconds": 5}' });
      const moved = daraja.receipts.map(({ direction, accountReference }) => `${direction} ${accountReference}`);
      expect(moved).to.deep.equal(["IN order-7", "OUT "]);
    } finally {
      await daraja.close();
    }
  });

  it("remembers the newest 10,000 rows of each list", () => {
    const rows: number[] = [];
    for (let row = 0; row < KEPT_MAX + 3; row += 1) keep(rows, row);
    expect([rows.length, rows[0], rows.at(-1)]).to.deep.equal([10_000, 3, 10_002]);
  });

  it("stops its clock and its callbacks when it is closed", async () => {
    const daraja = await startDaraja();
    let ran = false;
    daraja.clock.after(1, () => {
      ran = true;
      return Promise.resolve();
    });
    await daraja.close();
    await wait(new SimulatorClock(), 20);
    expect(ran).to.equal(false);
  });

  it("has its scenarios in docs/daraja.md", () => {
    const rows = scenarioRows();
    expect(itemsUnder("## Scenarios", "docs/daraja.md")).to.deep.equal(
      rows.map(([ending, push, payout]) => [ending, push === payout ? push : `push ${push}; payout ${payout}`]),
    );
    expect(itemsUnder("## Payments without a prompt", "docs/daraja.md")).to.deep.equal(
      rows.filter(([, , , byHand]) => byHand !== "success").map(([ending, , , byHand]) => [ending, byHand]),
    );
  });
});

describe("the simulator's clock", () => {
  it("goes on like the machine's, and runs at once what comes due when it is advanced", async () => {
    const clock = new SimulatorClock();
    const seen: string[] = [];
    const note = (name: string) => (): Promise<void> => Promise.resolve(void seen.push(name));
    clock.after(3_600_000, note("in an hour"));
    clock.after(3_600_020, note("soon after"));
    const before = clock.nowMillis();
    await clock.advance(3_600_000);
    expect(seen).to.deep.equal(["in an hour"]);
    expect(clock.nowMillis() - before).to.be.at.least(3_600_000);
    await eventually(() => seen.length === 2);
  });

  it("runs actions in the order of their times, each after the one before has ended", async () => {
    const clock = new SimulatorClock({ standsAtMillis: 0 });
    const seen: string[] = [];
    const note = (name: string) => async (): Promise<void> => {
      await wait(new SimulatorClock(), 1);
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
