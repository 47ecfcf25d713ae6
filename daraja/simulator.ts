import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { Tokens } from "./access/tokens.js";
import { C2b, type HandPaymentEnd } from "./api/c2b.js";
import { type Callback, Callbacks } from "./api/callbacks.js";
import { Control, CONTROL_PATH, type ControlAnswer } from "./api/control.js";
import { cut, Player } from "./api/player.js";
import { type RefusedRequest, Router } from "./api/router.js";
import { targetOf } from "./api/target.js";
import { type Clock, SimulatorClock, wait } from "./clock.js";
import { Ids } from "./mpesa/ids.js";
import { Mpesa } from "./mpesa/mpesa.js";
import type { Order, Receipt } from "./mpesa/order.js";
import { newOrganization, type Organization } from "./mpesa/organization.js";
import { pageOf } from "./page.js";
import { type PageAnswer, PAY_PATH, PayPage } from "./pay-page.js";

export interface DarajaOptions {
  /** By default 127.0.0.1. */
  readonly host?: string;
  /** By default any free port. */
  readonly port?: number;
  readonly clock?: SimulatorClock;
  readonly organizations?: readonly Organization[];
  /** What each customer has at first. */
  readonly subscriberCents?: number;
  /** The same seed gives the same ids and receipts. By default each start has others. */
  readonly seed?: string;
  /** How long each answer waits, after the request was accepted. A token never waits. */
  readonly answerDelayMillis?: number;
  /** How long an OriginatorConversationID is refused as a duplicate. By default for ever. */
  readonly idMemoryMillis?: number;
}

export interface Deposit {
  /** By default that of the first organization. */
  readonly shortcode?: string;
  readonly msisdn: string;
  readonly amountCents: number;
  readonly accountReference: string;
}

/**
 * A running simulator. `orders`, `receipts` and the balances of `organizations` are the truth:
 * tests compare our books with them.
 */
export class Daraja {
  readonly clock: Clock;
  readonly mpesa: Mpesa;
  readonly tokens: Tokens;
  answerDelayMillis: number;
  readonly #callbacks: Callbacks;
  readonly #c2b: C2b;
  readonly #router: Router;
  readonly #control: Control;
  readonly #payPage: PayPage;
  readonly #host: string;
  readonly #server: Server;
  #port = 0;
  #isOpen = true;

  constructor(options: DarajaOptions) {
    const steps = options.clock ?? new SimulatorClock();
    const clock = this.#whileOpen(steps);
    const ids = new Ids(options.seed ?? randomUUID());
    this.clock = clock;
    this.answerDelayMillis = options.answerDelayMillis ?? 0;
    this.tokens = new Tokens(clock, ids);
    this.mpesa = new Mpesa({
      ids,
      nowMillis: () => clock.nowMillis(),
      subscriberCents: options.subscriberCents ?? 20_000_000,
      organizations: options.organizations ?? [newOrganization()],
    });
    const callbacks = new Callbacks(clock);
    const c2b = new C2b({ clock, mpesa: this.mpesa, callbacks });
    const confirm = (receipt: Receipt): Promise<void> => c2b.confirm(receipt);
    const player = new Player({ clock, ids, mpesa: this.mpesa, callbacks, confirm });
    const idMemoryMillis = options.idMemoryMillis ?? Infinity;
    const context = { clock, ids, mpesa: this.mpesa, tokens: this.tokens, callbacks, player, idMemoryMillis };
    this.#callbacks = callbacks;
    this.#c2b = c2b;
    this.#router = new Router(context, c2b);
    this.#host = options.host ?? "127.0.0.1";
    this.#payPage = new PayPage(this.mpesa, (payment) => c2b.pay(payment));
    this.#control = new Control({
      mpesa: this.mpesa,
      callbacks: callbacks.sent,
      refusedRequests: this.#router.refused,
      clock: steps,
      pay: (payment) => c2b.pay(payment),
    });
    // An error of our own ends the process. It must not look like a lost answer.
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  get url(): string {
    const host = this.#host.includes(":") ? `[${this.#host}]` : this.#host;
    return `http://${host}:${String(this.#port)}`;
  }

  get organizations(): readonly Organization[] {
    return this.mpesa.organizations;
  }

  /** The only organization; of several, the first. */
  get organization(): Organization {
    const [first] = this.mpesa.organizations;
    if (first === undefined) throw new Error("the simulator has no organization");
    return first;
  }

  /** Each accepted order, once for each acceptance. */
  get orders(): readonly Order[] {
    return this.mpesa.orders;
  }

  /** Each movement of money, in its order. */
  get receipts(): readonly Receipt[] {
    return this.mpesa.receipts;
  }

  /** Each callback, forged ones included, in the order of sending. */
  get callbacks(): readonly Callback[] {
    return this.#callbacks.sent;
  }

  /** Each request that got an error for an answer, with the rule that it broke. */
  get refusedRequests(): readonly RefusedRequest[] {
    return this.#router.refused;
  }

  /** A customer pays to the shortcode without a prompt. Resolves after the confirmation. */
  payByHand({ shortcode, ...payment }: Deposit): Promise<HandPaymentEnd> {
    const organization = this.organizations.find((one) => one.shortcode === shortcode) ?? this.organization;
    return this.#c2b.pay({ ...payment, organization });
  }

  /** `payByHand`, for payments that nothing stops. Throws if the money does not move. */
  async deposit(deposit: Deposit): Promise<Receipt> {
    const end = await this.payByHand(deposit);
    if (end.kind !== "paid") throw new Error(`the payment did not move: ${end.kind}`);
    return end.receipt;
  }

  /** Takes connections: after an outage at the same port as before. */
  async listen(port = this.#port): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject).listen(port, this.#host, resolve);
    });
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** An outage: connections are refused until `listen`. What was accepted happens all the same. */
  async goOffline(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /** Stops at once. What has not happened by then never happens. */
  async close(): Promise<void> {
    this.#isOpen = false;
    this.#callbacks.stop();
    await this.goOffline();
  }

  /** Returns the clock, on which nothing happens once the simulator is closed. */
  #whileOpen(clock: Clock): Clock {
    return {
      nowMillis: () => clock.nowMillis(),
      after: (delayMillis, action) => {
        clock.after(delayMillis, () => (this.#isOpen ? action() : Promise.resolve()));
      },
    };
  }

  /** Undefined for a request that is not for a page. */
  async #page(request: IncomingMessage, path: string): Promise<PageAnswer | undefined> {
    switch (`${String(request.method)} ${path}`) {
      case "GET /":
        return { status: 200, html: pageOf(this.mpesa, this.callbacks, this.#router.refused, this.clock.nowMillis()) };
      case `GET ${PAY_PATH}`:
        return this.#payPage.show();
      case `POST ${PAY_PATH}`:
        return this.#payPage.submit(request);
      default:
        return undefined;
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { path } = targetOf(request);
    const page = await this.#page(request, path);
    if (page !== undefined) {
      sendPage(response, page);
      return;
    }
    if (path === CONTROL_PATH || path.startsWith(`${CONTROL_PATH}/`)) {
      sendControl(response, await this.#control.answer(request, path));
      return;
    }
    const { status, body, fault } = await this.#router.answer(request);
    const isToken = path.startsWith("/oauth/");
    if (this.answerDelayMillis > 0 && !isToken) await wait(this.clock, this.answerDelayMillis);
    if (fault === "lost") {
      response.destroy();
      return;
    }
    if (typeof body === "string") {
      sendPage(response, { status, html: body });
      return;
    }
    const text = JSON.stringify(body);
    // A client may compare its clock with M-Pesa's.
    const date = new Date(this.clock.nowMillis()).toUTCString();
    response
      .writeHead(status, { "content-type": "application/json", date })
      .end(fault === "malformed" ? cut(text) : text);
  }
}

function sendPage(response: ServerResponse, page: PageAnswer): void {
  const isHtml = "html" in page;
  response
    .writeHead(page.status, isHtml ? { "content-type": "text/html; charset=utf-8" } : { location: page.location })
    .end(isHtml ? page.html : "");
}

function sendControl(response: ServerResponse, { status, body }: ControlAnswer): void {
  const isText = typeof body === "string";
  response
    .writeHead(status, { "content-type": isText ? "application/x-pem-file" : "application/json" })
    .end(isText ? body : JSON.stringify(body));
}

/** Starts a simulator, which takes requests when the promise resolves. */
export async function startDaraja(options: DarajaOptions = {}): Promise<Daraja> {
  const daraja = new Daraja(options);
  await daraja.listen(options.port ?? 0);
  return daraja;
}
