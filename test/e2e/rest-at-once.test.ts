import { connect } from "node:net";

import { expect } from "chai";

import { eventually } from "../support/eventually.js";
import { availableOf, describeEachEngine, fresh, newAccount } from "../support/service/each-engine.js";
import type { Service } from "../support/service/service.js";

interface Sent {
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}
interface Answer {
  readonly head: string;
  readonly body: string;
}

const MASKED: readonly (readonly [RegExp, string])[] = [
  [/(acc|txn)_[0-9a-z]{26}/g, "$1_…"],
  [/[0-9a-f]{8}-[0-9a-f-]{27}/g, "uuid"],
  [/20[0-9]{2}-[0-9T:.-]+Z/g, "time"],
  [/Date: .*\r\n/g, ""],
  [/r=[0-9]+;t=[0-9]+/, "left"],
  [/(Keep-Alive|Connection): .*\r\n/g, ""],
];

describeEachEngine("REST requests that come at once", (service) => {
  const send = (movement: string, fields: object, headers: Sent["headers"] = {}): Sent => ({
    path: `/v1/transactions/${movement}`,
    body: JSON.stringify(fields),
    headers: { "X-API-Key": service().a.key, ...headers },
  });

  /**
   * Requests that meet every outcome of a mint or a redemption, with references that begin with
   * `prefix`.
   */
  async function everyEnding(prefix: string): Promise<{ requests: Sent[]; account_id: string }> {
    const account_id = await newAccount(service());
    const frozen = await newAccount(service());
    await service().rest("POST", `/accounts/${frozen}/freeze`, { body: { reason: "fraud" } });
    const first = { account_id, amount: "10.00", reference: `${prefix}-1` };
    const requests = [
      send("mint", first),
      send("mint", first),
      send("redeem", { ...first, amount: "9.00" }),
      send("redeem", {
        account_id,
        amount: "2.50",
        reference: `${prefix}-2`,
        description: "fare",
        metadata: { a: "b" },
      }),
      send("redeem", { account_id, amount: "100.00", reference: `${prefix}-3` }),
      send("mint", { account_id: frozen, amount: "1.00", reference: `${prefix}-4` }),
      send("mint", { account_id: "acc_01jd2r6p5vf8ksw3xhb1z7q4ye", amount: "1.00", reference: `${prefix}-5` }),
      send("redeem", { account_id: "acc_x", amount: "1.005", reference: " ", metadata: { "": "b" } }),
      send("mint", {}),
      send("mint", { account_id, amount: "1.00", reference: `${prefix}-6` }),
      send("mint", { account_id, amount: "0.10", reference: `${prefix}-7` }, { "Idempotency-Key": `${prefix}-key` }),
      send("mint", { account_id, amount: "0.10", reference: `${prefix}-7` }, { "Idempotency-Key": `${prefix}-key` }),
      send("mint", { account_id, amount: "0.10", reference: `${prefix}-9` }, { "Idempotency-Key": `${prefix}-key` }),
      send("mint", { account_id, amount: "1.005", reference: `${prefix}-10` }, { "Idempotency-Key": "two words" }),
      send("mint", { account_id, amount: "0.30", reference: `${prefix}-11` }, { "Idempotency-Key": "k".repeat(256) }),
    ];
    return { requests, account_id };
  }

  it("get the same responses as each alone, and are one call to the server", async () => {
    // References of one length, since it is part of Content-Length.
    const prefix = fresh("ref");
    const alone = await everyEnding(`${prefix}-a`);
    const expected: Answer[] = [];
    for (const request of alone.requests) expected.push(...(await sendAtOnce(service(), [request])));
    const together = await everyEnding(`${prefix}-b`);
    const answers = await sendAtOnce(service(), together.requests);

    const mask = ({ head, body }: Answer): string =>
      MASKED.reduce((text, [pattern, word]) => text.replace(pattern, word), `${head}${body}`).replaceAll(
        /ref-[0-9]+-[ab]/g,
        "ref",
      );
    expect(answers.map(mask)).to.deep.equal(expected.map(mask));
    expect(expected.map(statusOf)).to.deep.equal([
      201, 200, 409, 201, 422, 422, 404, 400, 400, 201, 201, 200, 422, 400, 400,
    ]);
    expect(await availableOf(service(), together.account_id)).to.equal("8.60");
    expect(await availableOf(service(), alone.account_id)).to.equal("8.60");

    const lines = await linesOf(service(), answers.map(requestIdOf));
    const batchId = requestIdOf(answers[0]);
    expect(lines.map(({ batch_id }) => batch_id)).to.deep.equal(answers.map(() => batchId));
    const isCall = (line: Line): boolean => line["request_id"] === batchId && line["msg"] === "call";
    const calls = await linesWhen(
      service(),
      (all) => all.filter(isCall),
      (some) => some.length > 0,
    );
    expect(calls).to.have.lengthOf(1);
    expect(calls[0]).to.include({ method: "TransactionService/BatchCreateTransactions", items: 15, items_refused: 9 });
  });

  it("go to the server each under its own key", async () => {
    const { a, b } = service();
    const account_id = await newAccount(service());
    const reference = fresh("mixed");
    const mint = { account_id, amount: "1.00" };
    const answers = await sendAtOnce(service(), [
      send("mint", { ...mint, reference: `${reference}-1` }),
      send("mint", { ...mint, reference: `${reference}-2` }, { "X-API-Key": b.key }),
      send("mint", { ...mint, reference: `${reference}-3` }, { "X-API-Key": `${a.key}x` }),
      { ...send("mint", { ...mint, reference: `${reference}-4` }), headers: { Authorization: `Bearer ${a.key}` } },
      send("mint", { ...mint, reference: `${reference}-5` }, { "X-API-Key": b.key }),
      { ...send("mint", { ...mint, reference: `${reference}-6` }), headers: {} },
      send("mint", { ...mint, reference: `${reference}-7` }),
    ]);
    expect(answers.map(statusOf)).to.deep.equal([201, 404, 401, 201, 404, 401, 201]);
    expect(await availableOf(service(), account_id)).to.equal("3.00");
  });

  it("go alone with a deadline of their own, or with an empty idempotency key", async () => {
    const mint = { account_id: await newAccount(service()), amount: "1.00" };
    const reference = fresh("own");
    const answers = await sendAtOnce(service(), [
      send("mint", { ...mint, reference: `${reference}-1` }),
      send("mint", { ...mint, reference: `${reference}-2` }, { "Idempotency-Key": "" }),
      send("mint", { ...mint, reference: `${reference}-3` }, { "Grpc-Timeout": "5S" }),
      send("mint", { ...mint, reference: `${reference}-4` }, { "Idempotency-Key": reference, Traceparent: "00-4" }),
    ]);
    expect(answers.map(statusOf)).to.deep.equal([201, 400, 201, 201]);
    expect(await availableOf(service(), mint.account_id)).to.equal("3.00");
    const lines = await linesOf(service(), answers.map(requestIdOf));
    expect(lines.map(({ batch_id }) => batch_id !== undefined)).to.deep.equal([true, false, false, true]);
  });
});

/**
 * Sends all requests in one write on one connection: one turn of the gateway's event loop reads
 * them. Returns the responses in order.
 */
async function sendAtOnce(service: Service, requests: readonly Sent[]): Promise<Answer[]> {
  const [host, port] = service.httpAddress.split(":");
  const socket = connect(Number(port), host).setEncoding("latin1");
  let received = "";
  socket.on("data", (text: string) => (received += text));
  const closed = new Promise((resolve, reject) => socket.once("close", resolve).once("error", reject));
  socket.write(requests.map((request, index) => bytesOf(request, index === requests.length - 1)).join(""));
  await closed;
  return answersIn(received);
}

function bytesOf({ path, body, headers }: Sent, isLast: boolean): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  if (isLast) lines.push("Connection: close\r\n");
  const type = `Content-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n`;
  return `POST ${path} HTTP/1.1\r\nHost: kesc\r\n${lines.join("")}${type}\r\n${body}`;
}

function answersIn(text: string): Answer[] {
  const answers: Answer[] = [];
  for (let rest = text; rest !== "";) {
    const headEnd = rest.indexOf("\r\n\r\n") + 4;
    const bodyEnd = headEnd + Number(/Content-Length: ([0-9]+)/.exec(rest)?.[1]);
    answers.push({ head: rest.slice(0, headEnd), body: rest.slice(headEnd, bodyEnd) });
    rest = rest.slice(bodyEnd);
  }
  return answers;
}

function statusOf({ head }: Answer): number {
  return Number(head.split(" ")[1]);
}

function requestIdOf(answer: Answer | undefined): string {
  return /X-Request-Id: (\S+)/i.exec(answer?.head ?? "")?.[1] ?? "";
}

type Line = Readonly<Record<string, unknown>>;

/** The gateway's log line of each request. */
function linesOf(service: Service, requestIds: readonly string[]): Promise<Line[]> {
  return linesWhen(
    service,
    (all) => {
      const lines = all.filter((line) => line["msg"] === "request");
      return requestIds.flatMap((id) => lines.filter((line) => line["request_id"] === id));
    },
    (found) => found.length === requestIds.length,
  );
}

/**
 * Waits until the picked log lines are enough: the programs write them a moment after their
 * responses.
 */
async function linesWhen(
  service: Service,
  pick: (all: readonly Line[]) => Line[],
  areEnough: (picked: readonly Line[]) => boolean,
): Promise<Line[]> {
  let picked: Line[] = [];
  await eventually(() => {
    const text = service.printed();
    const whole = text.slice(0, text.lastIndexOf("\n")).split("\n");
    picked = pick(whole.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Line));
    return areEnough(picked);
  });
  return picked;
}
