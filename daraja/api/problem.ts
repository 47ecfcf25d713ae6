/** An error as Daraja answers it: an HTTP status, a code and a text. */
export class Problem extends Error {
  readonly status: number;
  readonly errorCode: string;
  /** In place of an id of its own: a pending STK query answers with the CheckoutRequestID. */
  readonly requestId: string | undefined;
  /** What the request broke, for the list of refused requests. Daraja itself never says. */
  readonly rule: string | undefined;
  /** In place of Daraja's own envelope: what its gateway or its firewall sends. Text is a page. */
  readonly body: object | string | undefined;

  constructor(
    status: number,
    errorCode: string,
    errorMessage: string,
    {
      requestId,
      rule,
      body,
    }: { requestId?: string | undefined; rule?: string | undefined; body?: object | string } = {},
  ) {
    super(errorMessage);
    this.body = body;
    this.rule = rule;
    this.status = status;
    this.errorCode = errorCode;
    this.requestId = requestId;
  }
}

export function badRequest(field: string, rule?: string): Problem {
  return new Problem(400, "400.002.02", `Bad Request - Invalid ${field}`, { rule });
}

export function spikeArrest(): Problem {
  return new Problem(500, "500.003.02", "Spike Arrest Violation");
}

export function tooManyRequests(): Problem {
  return new Problem(429, "500.003.03", "Quota Violation");
}

/** The gateway's own form of a refusal: Apigee's. */
export function expiredToken(): Problem {
  const faultstring = "Access Token expired";
  const fault = { faultstring, detail: { errorcode: "keymanagement.service.access_token_expired" } };
  return new Problem(401, "access_token_expired", faultstring, { body: { fault } });
}

/** What the firewall sends after a burst: a page, and no JSON. */
export function firewallPage(): Problem {
  const body = "<html><head><title>Request Rejected</title></head><body>The requested URL was rejected.</body></html>";
  return new Problem(403, "403", "Request Rejected", { body });
}

/** The app has not the product of the path. Pull has a code of its own for it. */
export function noProduct(path = ""): Problem {
  if (path === "/pulltransactions") return new Problem(401, "401.001", "Access to the requested resource is denied");
  return new Problem(401, "401.003.01", "Invalid API call as no apiproduct match found");
}

/** Products report an invalid token in different ways; STK does so with HTTP 404. */
export const INVALID_TOKEN = {
  stk: () => new Problem(404, "404.001.03", "Invalid Access Token"),
  initiator: () => new Problem(401, "401.002.01", "Error Occurred - Invalid Access Token"),
  name: () => new Problem(401, "401.001", "Invalid Access Token"),
  other: () => new Problem(400, "400.003.01", "Invalid Access Token"),
} as const;

export type TokenFamily = keyof typeof INVALID_TOKEN;
