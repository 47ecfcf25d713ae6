/**
 * A server that answers like M-Pesa's API, a process of its own. It accepts every prompt and every
 * payout, and then sends the callbacks of a success. It keeps the amounts of payouts only.
 */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import type { StubSettings } from "./stub-settings.js";

type Fields = Record<string, unknown>;
type Answer = readonly [httpStatus: number, body: Fields];

/** Fewer than the half of the gateway's public requests that one address may have. */
const CALLBACKS_IN_FLIGHT = 32;
const CALLBACK_AGAIN_MILLIS = 100;
const PATHS = {
  token: "/oauth/v1/generate",
  prompt: "/mpesa/stkpush/v1/processrequest",
  promptQuery: "/mpesa/stkpushquery/v1/query",
  payOut: "/mpesa/b2c/v3/paymentrequest",
  payOutQuery: "/mpesa/transactionstatus/v1/query",
} as const;
const REFUSED: Answer = [400, { errorCode: "400.002.02", errorMessage: "Bad Request - Invalid Amount" }];
const CANCELED_BY_PAYER = "1032";

let settings: StubSettings = { delayMillis: 0, accepts: true, gatewayAddress: "" };
let serial = 0;
const amounts = new Map<string, unknown>();
const agent = new Agent({ keepAlive: true, maxSockets: CALLBACKS_IN_FLIGHT });

process.on("message", (given: StubSettings) => {
  settings = given;
  process.send?.({ kind: "set" });
});
process.on("disconnect", () => process.exit(0));

const server = createServer((req, res) => void answer(req, res));
server.listen(0, "127.0.0.1", () => {
  process.send?.({ kind: "ready", address: `127.0.0.1:${String((server.address() as AddressInfo).port)}` });
});

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const path = (req.url ?? "").split("?")[0] ?? "";
  const body = await fieldsOf(req);
  if (path !== PATHS.token && settings.delayMillis > 0) await sleep(settings.delayMillis);
  const [httpStatus, fields] = answerTo(path, body);
  res.writeHead(httpStatus, { "content-type": "application/json" }).end(JSON.stringify(fields));
}

function answerTo(path: string, body: Fields): Answer {
  const id = `bench_${String((serial += 1))}`;
  switch (path) {
    case PATHS.token:
      return [200, { access_token: id, expires_in: "3599" }];
    case PATHS.prompt:
      if (!settings.accepts) return REFUSED;
      callBack(body["CallBackURL"], paidPrompt(id, body));
      return [200, { ResponseCode: "0", MerchantRequestID: id, CheckoutRequestID: id }];
    case PATHS.promptQuery: {
      const ResultCode = settings.gatewayAddress === "" ? CANCELED_BY_PAYER : "0";
      return [200, { ResponseCode: "0", CheckoutRequestID: body["CheckoutRequestID"], ResultCode }];
    }
    case PATHS.payOut:
      if (!settings.accepts) return REFUSED;
      amounts.set(String(body["OriginatorConversationID"]), body["Amount"]);
      callBack(body["ResultURL"], paidOut(id, body));
      return [200, { ResponseCode: "0", ConversationID: id }];
    case PATHS.payOutQuery:
      callBack(body["ResultURL"], statusOfPaidOut(id, String(body["OriginalConversationID"])));
      return [200, { ResponseCode: "0", ConversationID: id }];
    default:
      return [200, { ResponseCode: "0" }];
  }
}

function paidPrompt(id: string, { Amount, PhoneNumber }: Fields): Fields {
  const items = { Amount, MpesaReceiptNumber: receiptOf(id), PhoneNumber };
  const Item = Object.entries(items).map(([Name, Value]) => ({ Name, Value }));
  return { Body: { stkCallback: { CheckoutRequestID: id, ResultCode: 0, CallbackMetadata: { Item } } } };
}

function paidOut(id: string, { OriginatorConversationID, Amount, PartyB }: Fields): Fields {
  const TransactionReceipt = receiptOf(String(OriginatorConversationID));
  const parameters = {
    TransactionAmount: Amount,
    TransactionReceipt,
    ReceiverPartyPublicName: `${String(PartyB)} - A`,
  };
  return resultOf({ OriginatorConversationID, ConversationID: id }, parameters);
}

function statusOfPaidOut(id: string, payOutId: string): Fields {
  const parameters = {
    OriginatorConversationID: payOutId,
    TransactionStatus: "Completed",
    Amount: amounts.get(payOutId),
    ReceiptNo: receiptOf(payOutId),
  };
  return resultOf({ OriginatorConversationID: id, ConversationID: id }, parameters);
}

function resultOf(ids: Fields, parameters: Fields): Fields {
  const ResultParameter = Object.entries(parameters).map(([Key, Value]) => ({ Key, Value }));
  return { Result: { ResultType: 0, ResultCode: 0, ...ids, ResultParameters: { ResultParameter } } };
}

/** The same for each message about one movement, and different for all others. */
function receiptOf(id: string): string {
  return id
    .replaceAll(/[^0-9A-Za-z]/g, "")
    .slice(-16)
    .toUpperCase()
    .padStart(10, "R");
}

/** Sends a callback to the gateway. Sends it again until the gateway answers 200. */
function callBack(url: unknown, message: Fields): void {
  const { gatewayAddress } = settings;
  if (gatewayAddress === "") return;
  const [host, port] = gatewayAddress.split(":");
  const options = { host, port, path: new URL(String(url)).pathname, method: "POST", agent };
  const again = (): void => {
    setTimeout(callBack, CALLBACK_AGAIN_MILLIS, url, message);
  };
  const call = request({ ...options, headers: { "content-type": "application/json" } }, (res) => {
    res.resume();
    if (res.statusCode !== 200) again();
  });
  call.on("error", again);
  call.end(JSON.stringify(message));
}

async function fieldsOf(req: IncomingMessage): Promise<Fields> {
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? {} : (JSON.parse(text) as Fields);
}
