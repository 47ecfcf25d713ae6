import type { IncomingMessage } from "node:http";

import { TOKEN_SECONDS } from "../access/tokens.js";
import type { Organization } from "../mpesa/organization.js";
import { payBusiness } from "./b2b.js";
import { payOut } from "./b2c.js";
import type { C2b } from "./c2b.js";
import type { Answer, Call, Context } from "./context.js";
import { Fields } from "./fields.js";
import { INVALID_TOKEN, Problem, type TokenFamily } from "./problem.js";
import { Pull } from "./pull.js";
import { jsonObjectOf } from "./request-body.js";
import { reverse } from "./reversal.js";
import { queryBalance, queryStatus } from "./status.js";
import { stkPush, stkQuery } from "./stk.js";
import { targetOf } from "./target.js";

interface Route {
  readonly family: TokenFamily;
  readonly product: (call: Call, context: Context) => Answer | Promise<Answer>;
}

/** Finds the product of a request, checks its token, and makes an answer of each Problem. */
export class Router {
  readonly #context: Context;
  readonly #routes: Readonly<Record<string, Route>>;

  constructor(context: Context, c2b: C2b) {
    const pull = new Pull();
    this.#context = context;
    this.#routes = {
      "/mpesa/stkpush/v1/processrequest": { family: "stk", product: stkPush },
      "/mpesa/stkpushquery/v1/query": { family: "stk", product: stkQuery },
      "/mpesa/b2c/v3/paymentrequest": { family: "initiator", product: payOut },
      "/mpesa/b2b/v1/paymentrequest": { family: "initiator", product: payBusiness },
      "/mpesa/accountbalance/v1/query": { family: "initiator", product: queryBalance },
      "/mpesa/reversal/v1/request": { family: "stk", product: reverse },
      "/mpesa/transactionstatus/v1/query": { family: "other", product: queryStatus },
      "/mpesa/c2b/v1/registerurl": { family: "other", product: c2b.register(1) },
      "/mpesa/c2b/v2/registerurl": { family: "other", product: c2b.register(2) },
      "/pulltransactions/v1/register": { family: "other", product: (call, within) => pull.register(call, within) },
      "/pulltransactions/v1/query": { family: "other", product: (call, within) => pull.list(call, within) },
    };
  }

  async answer(request: IncomingMessage): Promise<Answer & { status: number }> {
    try {
      return { status: 200, ...(await this.#answer(request)) };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const { status, errorCode, message, requestId = this.#context.ids.request() } = error;
      return { status, body: { requestId, errorCode, errorMessage: message } };
    }
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const { path, query } = targetOf(request);
    if (path === "/oauth/v1/generate") return this.#token(request, query);
    const route = this.#routes[path];
    if (route === undefined) throw new Problem(404, "404.001.01", "Resource not found");
    if (request.method !== "POST") throw new Problem(405, "405.001", "Method not allowed");
    const organization = this.#caller(request, route.family);
    return route.product({ organization, fields: new Fields(await bodyOf(request)) }, this.#context);
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

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const body = await jsonObjectOf(request);
  if (body === undefined) throw new Problem(400, "400.002.05", "Invalid Request Payload");
  return body;
}
