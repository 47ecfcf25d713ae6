// The service's rail beside an M-Pesa that somebody else wrote: what becomes of a mint for each
// code that its query says, and for callbacks that say the same, something else or nothing.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { type Business, RailWorld } from "../e2e/rails/world.js";
import { installDarajaMock, type Python } from "./packages.js";

interface QueryAnswer {
  readonly code: number;
  /** Whether the answer names the order that was asked about. That of daraja-mock never does. */
  readonly is_own: boolean;
}

/** What the query of a push says. The codes are those for which daraja-mock has words. */
const QUERIES: readonly (readonly [words: string, answer: QueryAnswer])[] = [
  ["0 about another order", { code: 0, is_own: false }],
  ...[0, 1, 1001, 1032, 1037, 2001].map((code) => [String(code), { code, is_own: true }] as const),
];
/** Of a push, the callback is sent as M-Pesa would: daraja-mock sends none. */
const CALLBACKS = [undefined, 0, 1032] as const;
/** The results of a payout, which daraja-mock does not send either. */
const RESULTS = [undefined, 0, 2040] as const;

export const RAIL_HEAD = ["the query says", "no callback", "callback 0", "callback of a failure"];

const TO_THE_END_MILLIS = 100 * 3_600_000;
const CALLBACK_AFTER_MILLIS = 10_000;
const SHILLINGS = 300;
const FUNDS_SHILLINGS = 1_000;

interface Asked {
  readonly path: string;
  readonly body: Readonly<Record<string, string>>;
}

/** The rows of the table in docs/mpesa.md. Throws where the books of the service differ. */
export async function railRows(python: Python): Promise<string[][]> {
  const mock = await startMock(python);
  const rows: string[][] = [];
  const count = (QUERIES.length + 1) * CALLBACKS.length;
  const world = await RailWorld.start("sqlite", count, { mpesaUrl: mock.url });
  try {
    const businesses = Array.from({ length: count }, (_, index) => world.business(index));
    for (const [words, answer] of QUERIES) {
      await mock.setQuery(answer);
      rows.push([`mint: ${words}`, ...(await rowOf("mint", businesses.splice(0, CALLBACKS.length)))]);
    }
    rows.push(["redemption: nothing", ...(await rowOf("redeem", businesses))]);
    const findings = await world.findings();
    if (findings.length > 0) throw new Error(`the books differ: ${JSON.stringify(findings)}`);
    return rows;
  } finally {
    await world.dispose();
    mock.stop();
  }

  async function rowOf(direction: "mint" | "redeem", of: readonly Business[]): Promise<string[]> {
    const orders = [];
    for (const business of of) orders.push(await new Order(world, business).place(direction));
    await world.pass(CALLBACK_AFTER_MILLIS);
    const codes = direction === "mint" ? CALLBACKS : RESULTS;
    for (const [index, order] of orders.entries()) await order.call(codes[index], await mock.asked());
    await world.pass(TO_THE_END_MILLIS);
    return Promise.all(orders.map((order) => order.words()));
  }
}

/** One mint or redemption of one business. */
class Order {
  #transactionId = "";
  #direction: "mint" | "redeem" = "mint";

  constructor(
    readonly world: RailWorld,
    readonly business: Business,
  ) {}

  async place(direction: "mint" | "redeem"): Promise<this> {
    this.#direction = direction;
    const phone = `+254712${this.business.shortcode}`;
    const account = await this.#send("POST", "/accounts", { user_id: "wanjiku", phone_number: phone });
    const funds = { account_id: account["id"], amount: FUNDS_SHILLINGS, reference: "funds", rail: "direct" };
    if (direction === "redeem") await this.#send("POST", "/transactions/mint", funds);
    const order = { account_id: account["id"], amount: SHILLINGS, reference: "order" };
    const { id } = await this.#send("POST", `/transactions/${direction}`, order);
    this.#transactionId = String(id);
    return this;
  }

  /** Sends what M-Pesa would send to the address that the order's request names. */
  async call(code: number | undefined, asked: readonly Asked[]): Promise<void> {
    const { shortcode } = this.business;
    const request = asked.findLast(({ path, body }) =>
      this.#direction === "mint"
        ? path.includes("stkpush/") && body["BusinessShortCode"] === shortcode
        : path.includes("b2c") && body["PartyA"] === shortcode,
    );
    if (request === undefined) throw new Error(`${this.#direction} of ${shortcode} was not asked for`);
    if (code === undefined) return;
    const receipt = `UKT0${shortcode}`;
    const url = request.body["CallBackURL"] ?? request.body["ResultURL"] ?? "";
    const body = this.#direction === "mint" ? await this.#pushCallback(code, receipt) : result(code, receipt, request);
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
    if (answer.status !== 200) throw new Error(`the callback got ${String(answer.status)}`);
  }

  async #pushCallback(code: number, receipt: string): Promise<object> {
    const { rail_reference: id } = await this.#send("GET", `/transactions/${this.#transactionId}/payment`);
    const items = [
      { Name: "Amount", Value: SHILLINGS },
      { Name: "MpesaReceiptNumber", Value: receipt },
    ];
    const about = { MerchantRequestID: "m", CheckoutRequestID: id, ResultCode: code, ResultDesc: "said by a test" };
    return { Body: { stkCallback: { ...about, ...(code === 0 ? { CallbackMetadata: { Item: items } } : {}) } } };
  }

  /** What became of it, such as "failed, PAYER_UNREACHABLE", and what a person is told. */
  async words(): Promise<string> {
    const { status, failure } = await this.#send("GET", `/transactions/${this.#transactionId}`);
    const payment = await this.#send("GET", `/transactions/${this.#transactionId}/payment`);
    const reason = (failure as { reason?: string } | null)?.reason?.toUpperCase();
    const flags = (payment["open_flags"] as string[]).map((flag) => `; flag ${flag.toUpperCase()}`);
    return [String(status), ...(reason === undefined ? [] : [`, ${reason}`]), ...flags].join("");
  }

  async #send(method: string, path: string, body?: object): Promise<Readonly<Record<string, unknown>>> {
    const { status, json, text } = await this.world.rest.send(method, path, { key: this.business.key, body });
    if (status >= 300) throw new Error(`${method} ${path}: ${text}`);
    return json;
  }
}

function result(code: number, receipt: string, { body }: Asked): object {
  const parameters = [
    { Key: "TransactionAmount", Value: SHILLINGS },
    { Key: "TransactionReceipt", Value: receipt },
    { Key: "ReceiverPartyPublicName", Value: `${String(body["PartyB"])} - JANE DOE` },
  ];
  const { OriginatorConversationID } = body;
  const about = { ResultType: 0, ResultCode: code, ResultDesc: "said by a test", OriginatorConversationID };
  const ids = { ConversationID: "AG_1", TransactionID: receipt };
  return { Result: { ...about, ...ids, ...(code === 0 ? { ResultParameters: { ResultParameter: parameters } } : {}) } };
}

interface Mock {
  readonly url: string;
  readonly setQuery: (answer: QueryAnswer) => Promise<void>;
  readonly asked: () => Promise<readonly Asked[]>;
  readonly stop: () => void;
}

async function startMock(python: Python): Promise<Mock> {
  const env = { ...process.env, PYTHONPATH: installDarajaMock(python), PYTHONDONTWRITEBYTECODE: "1" };
  const child = spawn(python.program, ["test/peers/daraja_mock_server.py"], {
    stdio: ["ignore", "pipe", "ignore"],
    env,
  });
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  const setQuery = async (answer: QueryAnswer): Promise<void> => {
    const headers = { "content-type": "application/json" };
    await fetch(`${url}/peers/query`, { method: "POST", headers, body: JSON.stringify(answer) });
  };
  const asked = async (): Promise<readonly Asked[]> =>
    (await (await fetch(`${url}/peers/requests`)).json()) as readonly Asked[];
  return { url, setQuery, asked, stop: () => child.kill() };
}
