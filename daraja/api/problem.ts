/** An error as Daraja answers it: an HTTP status, a code and a text. */
export class Problem extends Error {
  readonly status: number;
  readonly errorCode: string;
  /** In place of an id of its own: a pending STK query answers with the CheckoutRequestID. */
  readonly requestId: string | undefined;

  constructor(status: number, errorCode: string, errorMessage: string, requestId?: string) {
    super(errorMessage);
    this.status = status;
    this.errorCode = errorCode;
    this.requestId = requestId;
  }
}

export function badRequest(field: string): Problem {
  return new Problem(400, "400.002.02", `Bad Request - Invalid ${field}`);
}

export function spikeArrest(): Problem {
  return new Problem(500, "500.003.02", "Spike Arrest Violation");
}

/** The app has not the product of the path. */
export function noProduct(): Problem {
  return new Problem(401, "401.003.01", "Invalid API call as no apiproduct match found");
}

/** Products report an invalid token in different ways; STK does so with HTTP 404. */
export const INVALID_TOKEN = {
  stk: () => new Problem(404, "404.001.03", "Invalid Access Token"),
  initiator: () => new Problem(401, "401.002.01", "Error Occurred - Invalid Access Token"),
  other: () => new Problem(400, "400.003.01", "Invalid Access Token"),
} as const;

export type TokenFamily = keyof typeof INVALID_TOKEN;
