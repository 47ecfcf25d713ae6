import { constants, publicEncrypt } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import { SimulatorClock } from "../../daraja/clock.js";
import { stamp } from "../../daraja/mpesa/nairobi-time.js";
import { apiShortcodeOf } from "../../daraja/mpesa/organization.js";
import { type Daraja, type DarajaOptions, startDaraja } from "../../daraja/simulator.js";
import { CERTIFICATE_FILE, MONDAY_MILLIS } from "./given.js";

const ACCEPTED = '{"ResultCode":0,"ResultDesc":"Accepted"}';

export interface Answer {
  readonly status: number;
  /** Undefined where the answer is no JSON. */
  readonly body: Record<string, unknown> | undefined;
}

/** What the business's server answers to a callback; without a body, nothing ever. */
export interface CallbackAnswer {
  readonly status?: number;
  readonly body?: string;
}

/** The fields that differ from those of a right request; undefined leaves one out. */
export type Differing = Record<string, unknown>;

/** A simulator on a clock that stands still, and a business with its server for callbacks. */
export class Client {
  readonly daraja: Daraja;
  readonly clock: SimulatorClock;
  /** The callbacks that arrived, in their order. */
  readonly received: { path: string; body: string }[] = [];
  /** By path, where the answer is not an acceptance. */
  readonly answers = new Map<string, CallbackAnswer>();
  readonly #server: Server;
  #token = "";

  private constructor(daraja: Daraja, clock: SimulatorClock) {
    this.daraja = daraja;
    this.clock = clock;
    this.#server = createServer((request, response) => {
      void text(request).then((body) => {
        this.received.push({ path: request.url ?? "", body });
        const { status = 200, body: answer } = this.answers.get(request.url ?? "") ?? { body: ACCEPTED };
        if (answer !== undefined) response.writeHead(status, { "content-type": "application/json" }).end(answer);
      });
    });
  }

  /** Has a token already. */
  static async start(options: Omit<DarajaOptions, "clock"> = {}): Promise<Client> {
    const clock = new SimulatorClock({ standsAtMillis: MONDAY_MILLIS });
    const client = new Client(await startDaraja({ ...options, clock }), clock);
    await new Promise<void>((resolve) => client.#server.listen(0, "127.0.0.1", resolve));
    await client.renewToken();
    return client;
  }

  async close(): Promise<void> {
    await this.daraja.close();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  urlOf(path: string): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}${path}`;
  }

  async renewToken(): Promise<void> {
    const { body } = await this.authorize();
    this.#token = String(body?.["access_token"]);
  }

  authorize({
    authorization = `Basic ${base64(`${this.#organization.consumerKey}:${this.#organization.consumerSecret}`)}`,
    grantType = "client_credentials",
  } = {}): Promise<Answer> {
    return this.#call(`/oauth/v1/generate?grant_type=${grantType}`, { headers: { authorization } });
  }

  /** Fields that are undefined are left out of the JSON. */
  post(path: string, body: object | string, token = this.#token): Promise<Answer> {
    return this.#call(path, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  }

  /** Registers addresses of C2B: /confirmations and /validations. */
  registerUrls(differing: Differing = {}, version = "v2"): Promise<Answer> {
    return this.post(`/mpesa/c2b/${version}/registerurl`, {
      ShortCode: apiShortcodeOf(this.#organization),
      ResponseType: "Completed",
      ConfirmationURL: this.urlOf("/confirmations"),
      ValidationURL: this.urlOf("/validations"),
      ...differing,
    });
  }

  registerPull(differing: Differing = {}): Promise<Answer> {
    return this.post("/pulltransactions/v1/register", {
      ShortCode: apiShortcodeOf(this.#organization),
      RequestType: "Pull",
      NominatedNumber: "254700000000",
      CallBackURL: this.urlOf("/pulls"),
      ...differing,
    });
  }

  pull(differing: Differing = {}): Promise<Answer> {
    return this.post("/pulltransactions/v1/query", {
      ShortCode: apiShortcodeOf(this.#organization),
      StartDate: "2026-01-05 00:00:00",
      EndDate: "2026-01-09 9:00:00",
      OffSetValue: "0",
      ...differing,
    });
  }

  /** Asks the simulator itself; without a body by GET. */
  async control(path: string, body?: object): Promise<Readonly<Record<string, unknown>>> {
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const answer = await this.#call(`/simulator${path}`, init);
    return { status: answer.status, ...answer.body };
  }

  push(msisdn: string, differing: Differing = {}): Promise<Answer> {
    return this.post("/mpesa/stkpush/v1/processrequest", {
      ...this.#signature(),
      TransactionType: "CustomerPayBillOnline",
      Amount: "100",
      PartyA: msisdn,
      PartyB: this.#organization.shortcode,
      PhoneNumber: msisdn,
      CallBackURL: this.urlOf("/callbacks/a0"),
      AccountReference: "INVOICE-1",
      TransactionDesc: "deposit",
      ...differing,
    });
  }

  queryPush(checkoutRequestId: unknown, differing: Differing = {}): Promise<Answer> {
    const body = { ...this.#signature(), CheckoutRequestID: checkoutRequestId, ...differing };
    return this.post("/mpesa/stkpushquery/v1/query", body);
  }

  reverse(receipt: unknown, differing: Differing = {}): Promise<Answer> {
    return this.post("/mpesa/reversal/v1/request", {
      Initiator: this.#organization.initiatorName,
      SecurityCredential: encrypted(this.#organization.initiatorPassword),
      CommandID: "TransactionReversal",
      TransactionID: receipt,
      Amount: "10",
      ReceiverParty: apiShortcodeOf(this.#organization),
      RecieverIdentifierType: "11",
      ResultURL: this.urlOf("/callbacks/e0"),
      QueueTimeOutURL: this.urlOf("/callbacks/e1"),
      Remarks: "return",
      ...differing,
    });
  }

  /** `path` is a version of B2C, or another path whose requests are the same. */
  payOut(msisdn: string, differing: Differing = {}, path = "v3"): Promise<Answer> {
    return this.post(path.startsWith("/") ? path : `/mpesa/b2c/${path}/paymentrequest`, {
      OriginatorConversationID: "txn_1",
      InitiatorName: this.#organization.initiatorName,
      SecurityCredential: encrypted(this.#organization.initiatorPassword),
      CommandID: "BusinessPayment",
      Amount: 100,
      PartyA: apiShortcodeOf(this.#organization),
      PartyB: msisdn,
      Remarks: "payout",
      QueueTimeOutURL: this.urlOf("/timeouts/b0"),
      ResultURL: this.urlOf("/callbacks/b0"),
      Occassion: "",
      ...differing,
    });
  }

  queryStatus(differing: Differing = {}, token = this.#token): Promise<Answer> {
    const about = { CommandID: "TransactionStatusQuery", OriginalConversationID: "txn_1" };
    return this.post("/mpesa/transactionstatus/v1/query", { ...this.#query(), ...about, ...differing }, token);
  }

  queryBalance(differing: Differing = {}): Promise<Answer> {
    return this.post("/mpesa/accountbalance/v1/query", {
      ...this.#query(),
      CommandID: "AccountBalance",
      ...differing,
    });
  }

  /** The last callback that arrived at this path, parsed. Throws if there is none. */
  lastAt(path: string): unknown {
    const last = this.received.findLast((callback) => callback.path === path);
    if (last === undefined) throw new Error(`no callback came to ${path}`);
    return JSON.parse(last.body);
  }

  get #organization(): Daraja["organization"] {
    return this.daraja.organization;
  }

  #signature(): object {
    const shortcode = apiShortcodeOf(this.#organization);
    const { passkey } = this.#organization;
    const timestamp = stamp(this.clock.nowMillis());
    const password = base64(shortcode + passkey + timestamp);
    return { BusinessShortCode: Number(shortcode), Password: password, Timestamp: timestamp };
  }

  #query(): object {
    const { initiatorName, initiatorPassword } = this.#organization;
    return {
      Initiator: initiatorName,
      SecurityCredential: encrypted(initiatorPassword),
      PartyA: apiShortcodeOf(this.#organization),
      IdentifierType: "4",
      ResultURL: this.urlOf("/callbacks/c0"),
      QueueTimeOutURL: this.urlOf("/timeouts/c0"),
      Remarks: "OK",
    };
  }

  async #call(path: string, init: RequestInit): Promise<Answer> {
    const response = await fetch(`${this.daraja.url}${path}`, init);
    const content = await response.text();
    return { status: response.status, body: parsed(content) };
  }
}

/** As Safaricom has clients encrypt the initiator's password. */
export function encrypted(password: string): string {
  const key = readFileSync(CERTIFICATE_FILE);
  return publicEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, Buffer.from(password)).toString("base64");
}

export function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
