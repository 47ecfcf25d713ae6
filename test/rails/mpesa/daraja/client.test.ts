import { inspect } from "node:util";

import { expect } from "chai";

import { type DarajaAnswer, DarajaClient } from "../../../../src/rails/mpesa/daraja/client.js";
import { afterToken, answering, type Received, resetting, silent, StubServer, TOKEN } from "../stub-server.js";

const SECRETS = { consumerKey: "the-consumer-key", consumerSecret: "the-consumer-secret" };
const NEVER = new AbortController().signal;

describe("the client of Daraja", () => {
  let stub: StubServer;
  let client: DarajaClient;

  async function serving(...given: Parameters<typeof StubServer.start>): Promise<void> {
    stub = await StubServer.start(...given);
    client = new DarajaClient({ baseUrl: stub.url, ...SECRETS }, () => 0);
  }

  function post(signal = NEVER): Promise<DarajaAnswer> {
    return client.post("/path", { Amount: 1 }, signal);
  }

  afterEach(() => stub.stop());

  function refusal(errorCode: string, errorMessage = "Invalid Access Token"): unknown {
    return { requestId: "1c5b-4ba8-815c-ac45c57a3db01495926", errorCode, errorMessage };
  }

  it("asks for a token with its key and secret, and posts JSON with the token", async () => {
    await serving(afterToken(answering(200, { ResponseCode: "0" })));
    expect(await post()).to.deep.include({ kind: "answered", isOk: true, body: { ResponseCode: "0" } });
    const [token, order] = stub.received;
    expect(token?.path).to.equal("/oauth/v1/generate?grant_type=client_credentials");
    const basic = Buffer.from("the-consumer-key:the-consumer-secret").toString("base64");
    expect(token?.headers.authorization).to.equal(`Basic ${basic}`);
    expect(order).to.deep.include({ path: "/path", body: { Amount: 1 } });
    expect(order?.headers).to.include({
      authorization: `Bearer ${TOKEN.access_token}`,
      "content-type": "application/json",
    });
  });

  it("asks for one token for many requests at once", async () => {
    await serving(afterToken(answering(200, { ResponseCode: "0" })));
    await Promise.all(Array.from({ length: 10 }, () => post()));
    expect([stub.tokensRequested, stub.orders.length]).to.deep.equal([1, 10]);
  });

  for (const [httpStatus, errorCode] of [
    [404, "404.001.03"],
    [401, "401.002.01"],
    [400, "400.003.01"],
  ] as const) {
    it(`takes a new token after ${errorCode}, and sends the same request once more`, async () => {
      await serving(afterToken(answering(httpStatus, refusal(errorCode)), answering(200, { ResponseCode: "0" })));
      expect(await post()).to.deep.include({ kind: "answered", isOk: true });
      expect(stub.tokensRequested).to.equal(2);
      expect(stub.orders.map(({ body }) => body)).to.deep.equal([{ Amount: 1 }, { Amount: 1 }]);
    });
  }

  it("was not reached if each new token is refused, too", async () => {
    await serving(afterToken(answering(404, refusal("404.001.03"))));
    expect(await post()).to.deep.equal({ kind: "unreached", code: "TOKEN_404.001.03", retryAfterMillis: 30_000 });
    expect(stub.orders).to.have.length(6);
  }).timeout(10_000);

  for (const [what, httpStatus, body, code, retryAfterMillis] of [
    ["a spike arrest", 500, refusal("500.003.02", "Spike Arrest Violation"), "500.003.02", 5_000],
    ["a busy system", 503, refusal("500.003.02", "System is busy. Please try again"), "500.003.02", 5_000],
    ["a quota violation", 500, refusal("500.003.03", "Quota Violation"), "500.003.03", 60_000],
    ["too many requests", 429, "<html>slow down</html>", "HTTP_429", 5_000],
    ["too many requests, with a code", 429, refusal("429.001.01", "Slow down"), "429.001.01", 5_000],
  ] as const) {
    it(`was not reached after ${what}`, async () => {
      await serving(afterToken(answering(httpStatus, body)));
      expect(await post()).to.deep.equal({ kind: "unreached", code, retryAfterMillis, isTurnedAway: true });
    });
  }

  for (const [what, respond, code] of [
    ["a page of a proxy", answering(502, "<html>Bad Gateway</html>"), "HTTP_502"],
    ["an answer that is no JSON", answering(200, '{"ResponseCode": "0"'), "MALFORMED_ANSWER"],
    ["an answer that is no object", answering(200, ["0"]), "MALFORMED_ANSWER"],
    ["an empty answer", answering(200, ""), "MALFORMED_ANSWER"],
  ] as const) {
    it(`does not know the outcome after ${what}`, async () => {
      await serving(afterToken(respond));
      expect(await post()).to.deep.equal({ kind: "unknown", code });
    });
  }

  it("does not know the outcome after a reset", async () => {
    await serving(afterToken(resetting));
    expect((await post()).kind).to.equal("unknown");
  });

  it("gives the code and the message of a refusal", async () => {
    await serving(afterToken(answering(400, refusal("400.002.02", "Bad Request - Invalid PhoneNumber"))));
    expect(await post()).to.deep.include({
      kind: "answered",
      isOk: false,
      code: "400.002.02",
      message: "Bad Request - Invalid PhoneNumber",
    });
  });

  it("lets no text into a code", async () => {
    await serving(afterToken(answering(400, refusal("the phone 254708374149 of John"))));
    expect(await post()).to.include({ kind: "answered", code: "HTTP_400" });
  });

  for (const [what, httpStatus, body, code] of [
    ["a wrong key", 400, refusal("400.008.01", "Invalid Authentication passed"), "TOKEN_400.008.01"],
    ["an answer without a token", 200, { expires_in: "3599" }, "TOKEN_HTTP_200"],
    ["a token without a life", 200, { access_token: "a token" }, "TOKEN_HTTP_200"],
    ["a token that has ended", 200, { access_token: "a token", expires_in: 0 }, "TOKEN_HTTP_200"],
    ["a page of a proxy", 502, "<html>Bad Gateway</html>", "TOKEN_HTTP_502"],
  ] as const) {
    it(`was not reached if the endpoint of tokens answers with ${what}`, async () => {
      await serving(answering(httpStatus, body));
      const { fault, ...answer } = await post();
      expect(answer).to.deep.equal({ kind: "unreached", code, retryAfterMillis: 30_000 });
      const refused = { kind: "credentials", credential: "app", code: "400.008.01" };
      expect(fault).to.deep.equal(code.endsWith("400.008.01") ? refused : undefined);
      expect(stub.orders).to.deep.equal([]);
    });
  }

  it("takes a life of the token that is a number, as newer versions send it", async () => {
    const grants = (response: Parameters<ReturnType<typeof answering>>[0], received: Received): void => {
      const token = { access_token: "a token", expires_in: 3599 };
      answering(200, received.path.startsWith("/oauth") ? token : { ResponseCode: "0" })(response, received);
    };
    await serving(grants);
    expect((await post()).kind).to.equal("answered");
  });

  it("was not reached if the deadline passes while it waits for a token", async () => {
    const abort = new AbortController();
    await serving(() => {
      abort.abort();
    });
    expect(await post(abort.signal)).to.include({ kind: "unreached", code: "TOKEN_DEADLINE" });
    expect(await post(abort.signal)).to.include({ kind: "unreached", code: "TOKEN_DEADLINE" });
    expect(stub.orders).to.deep.equal([]);
  });

  it("shows no secret in its results, and none when it is printed", async () => {
    await serving(afterToken(silent));
    const abort = new AbortController();
    const answer = post(abort.signal);
    abort.abort();
    const shown = inspect([client, await answer], { depth: 10, showHidden: true });
    for (const secret of [...Object.values(SECRETS), TOKEN.access_token]) expect(shown).not.to.include(secret);
  });
});
