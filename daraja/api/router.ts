import type { IncomingMessage } from "node:http";

import { TOKEN_SECONDS } from "../access/tokens.js";
import { keep } from "../kept.js";
import type { Organization } from "../mpesa/organization.js";
import { payBusiness } from "./b2b.js";
import { payOut } from "./b2c.js";
import type { C2b } from "./c2b.js";
import type { Answer, Call, Context } from "./context.js";
import { Fields } from "./fields.js";
import { nameOfBusiness, nameOfPhone } from "./names.js";
import { INVALID_TOKEN, noProduct, Problem, type TokenFamily } from "./problem.js";
import { Pull } from "./pull.js";
import { generateQrCode } from "./qr-code.js";
import { jsonObjectOf } from "./request-body.js";
import { reverse } from "./reversal.js";
import { queryBalance, queryStatus } from "./status.js";
import { stkPush, stkQuery } from "./stk.js";
import { targetOf } from "./target.js";

interface Route {
  readonly family: TokenFamily;
  readonly product: (call: Call, context: Context) => Answer | Promise<Answer>;
}

/** A request that got an error for an answer. */
export interface RefusedRequest {
  readonly atMillis: number;
  readonly path: string;
  readonly status: number;
  readonly errorCode: string;
  readonly errorMessage: string;
  /** What the answer does not say: which rule the request broke, and with which value. */
  readonly rule: string;
}

const TO_BUSINESS = /^Business(PayBill|BuyGoods|PayToBulk)$/;

/** Products of Safaricom that are not simulated, by how their paths begin. */
const NOT_SIMULATED: Readonly<Record<string, string>> = {
  "/standingorder/": "Ratiba (standing orders)",
  "/v1/billmanager-invoice/": "Bill Manager",
  "/v1/ussdpush/": "B2B Express Checkout (USSD push)",
  "/mpesa/b2b/v1/b2bexpresscheckout": "B2B Express Checkout (USSD push)",
  "/imsi/": "IMSI and SIM swap checks",
  "/mpesa/b2c/simswap/": "IMSI and SIM swap checks",
  "/simportal/": "IoT SIM portal",
};

/** Finds the product of a request, checks its token, and makes an answer of each Problem. */
export class Router {
  readonly #context: Context;
  /** The answers that were errors, with what the requests broke. */
  readonly refused: RefusedRequest[] = [];
  readonly #routes: Readonly<Record<string, Route>>;

  constructor(context: Context, c2b: C2b) {
    const pull = new Pull();
    this.#context = context;
    this.#routes = {
      "/mpesa/stkpush/v1/processrequest": { family: "stk", product: stkPush },
      "/mpesa/stkpushquery/v1/query": { family: "stk", product: stkQuery },
      "/mpesa/b2c/v3/paymentrequest": { family: "initiator", product: payOut("v3") },
      "/mpesa/b2c/v1/paymentrequest": { family: "initiator", product: payOut("v1") },
      "/mpesa/b2pochi/v1/paymentrequest": { family: "initiator", product: payOut("pochi") },
      "/mpesa/b2b/v1/paymentrequest": { family: "initiator", product: payBusiness(TO_BUSINESS) },
      "/mpesa/b2b/v1/remittax": { family: "initiator", product: payBusiness(/^PayTaxToKRA$/) },
      "/mpesa/accountbalance/v1/query": { family: "initiator", product: queryBalance },
      "/mpesa/reversal/v1/request": { family: "stk", product: reverse },
      "/mpesa/transactionstatus/v1/query": { family: "other", product: queryStatus },
      "/mpesa/c2b/v1/registerurl": { family: "other", product: c2b.register(1) },
      "/mpesa/c2b/v2/registerurl": { family: "other", product: c2b.register(2) },
      "/mpesa/c2b/v1/simulate": { family: "other", product: (call, within) => c2b.simulate(call, within) },
      "/mpesa/c2b/v2/simulate": { family: "other", product: (call, within) => c2b.simulate(call, within) },
      "/mpesa/qrcode/v1/generate": { family: "other", product: generateQrCode },
      "/sfcverify/v1/query/info": { family: "name", product: nameOfBusiness },
      "/mpesa/b2c/hakikisha/v1/hakikisha": { family: "name", product: nameOfPhone },
      "/pulltransactions/v1/register": { family: "other", product: (call, within) => pull.register(call, within) },
      "/pulltransactions/v1/query": { family: "other", product: (call, within) => pull.list(call, within) },
    };
  }

  async answer(request: IncomingMessage): Promise<Answer & { status: number }> {
    try {
      return { status: 200, ...(await this.#answer(request)) };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const { status, errorCode, message, rule = message, requestId = this.#context.ids.request() } = error;
      const { body = { requestId, errorCode, errorMessage: message } } = error;
      const { path } = targetOf(request);
      const { clock } = this.#context;
      keep(this.refused, { atMillis: clock.nowMillis(), path, status, errorCode, errorMessage: message, rule });
      return { status, body };
    }
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const { path, query } = targetOf(request);
    if (path === "/oauth/v1/generate") return this.#token(request, query);
    const route = this.#routes[path];
    if (route === undefined) throw unknownPath(path);
    if (request.method !== "POST") throw new Problem(405, "405.001", "Method not allowed");
    const organization = this.#caller(request, route.family);
    const { lacksProduct } = organization;
    if (lacksProduct !== undefined && path.startsWith(lacksProduct)) throw noProduct(lacksProduct);
    return route.product({ organization, fields: new Fields(await bodyOf(request), organization) }, this.#context);
  }

  #token(request: IncomingMessage, parameters: URLSearchParams): Answer {
    const [scheme = "", credentials = ""] = (request.headers.authorization ?? "").split(" ");
    const [key, secret] = Buffer.from(credentials, "base64").toString().split(":");
    const organization = this.#context.mpesa.organizations.find(
      ({ consumerKey, consumerSecret }) => consumerKey === key && consumerSecret === secret,
    );
    if (request.method !== "GET") throw new Problem(405, "405.001", "Method not allowed");
    if (scheme !== "Basic" || organization === undefined) {
      throw new Problem(400, "400.008.01", "Invalid Authentication passed");
    }
    if (parameters.get("grant_type") !== "client_credentials") {
      throw new Problem(400, "400.008.02", "Invalid grant type passed");
    }
    const token = this.#context.tokens.issue(organization);
    // The real answer has a number at times and a text at others.
    const seconds = this.#context.tokens.issued % 2 === 0 ? TOKEN_SECONDS : String(TOKEN_SECONDS);
    return { body: { access_token: token, expires_in: seconds } };
  }

  #caller(request: IncomingMessage, family: TokenFamily): Organization {
    const [, token = ""] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "") ?? [];
    const { mpesa, tokens } = this.#context;
    const organization = mpesa.organizations.find((one) => tokens.isValid(one, token));
    if (organization === undefined) throw INVALID_TOKEN[family]();
    return organization;
  }
}

/** A path of a product that Safaricom has, and the simulator has not, is no wrong address. */
function unknownPath(path: string): Problem {
  const product = Object.entries(NOT_SIMULATED).find(([beginning]) => path.startsWith(beginning))?.[1];
  if (product === undefined) return new Problem(404, "404.001.01", "Resource not found");
  return new Problem(501, "501.001.01", `Not simulated: ${product}`);
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const body = await jsonObjectOf(request);
  if (body === undefined) throw new Problem(400, "400.002.05", "Invalid Request Payload");
  return body;
}
