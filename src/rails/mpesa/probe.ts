import type { UnixMillis } from "../../domain/values/time.js";
import type { ProbeAnswer, RailProbe } from "../probe.js";
import { type DarajaRequest, readAnswer } from "./answers.js";
import { B2B_PATH } from "./b2b.js";
import { B2C_PATH } from "./b2c.js";
import { BALANCE_PATH, balanceRequest } from "./balance.js";
import { type DarajaAnswer, type DarajaClient, TOKEN_PATH } from "./daraja/client.js";
import { PULL_PATH, pullRequest } from "./reconciliation/pull-transactions.js";
import type { MpesaAccount } from "./settings.js";
import { STATUS_PATH, statusRequest } from "./status.js";
import { pushQuery, STK_QUERY_PATH } from "./stk.js";

/** M-Pesa has no prompt and no payment of these names. */
const NO_PROMPT = "ws_CO_00000000000000000000000";
const NO_PAYMENT = "00000000-0000-4000-8000-000000000000";
/** A list of the last minutes is short. */
const LISTED_MILLIS = 5 * 60_000;
const CLOCK_MILLIS_MAX = 60_000;
const SECOND_MILLIS = 1_000;

const ADVICE = {
  network: "Nothing of M-Pesa answers there: compare baseUrl or environment, DNS, the firewall and the proxy.",
  app: "Compare consumerKey and consumerSecret with the app, and the app with the environment.",
  product: "The app lacks this product: add it to the app in Safaricom's portal.",
  path: "There is no such path: baseUrl must end before /mpesa and /oauth.",
  shortcode: "Compare collectShortcode: M-Pesa does not know it, or not with this app.",
  payOut: "Compare payOutShortcode: M-Pesa does not know it, or not with this app.",
  passkey: "Compare passkey: it belongs to collectShortcode and to the environment.",
  pull: "Register it once: kesc rail register-pull, or register-deposits. Then Safaricom must switch it on.",
  busy: "Try it later.",
  field: "M-Pesa refuses a field of the request.",
  initiator:
    "Compare initiatorName, initiatorPassword (M-Pesa ends it after 90 days), the certificate of the environment, and " +
    "that the initiator is one of payOutShortcode. Nothing is sent with this credential until kesc rail set.",
  role:
    "The initiator lacks the role: give it those for balances, status queries and payouts in M-Pesa's portal. " +
    "Then set the account again: kesc rail set.",
  locked: "The initiator is locked: unlock it in M-Pesa's portal, and set its password again: kesc rail set.",
  notAsked: "A question would move money. The first small one shows whether the app has the product.",
  empty: "The list is empty. M-Pesa says the same of a shortcode for which Safaricom has not switched it on.",
} as const;

/** What to do about the code with which M-Pesa refuses an initiator. */
function adviceOnInitiator(code: string): string {
  if (code === "21") return ADVICE.role;
  return code === "8006" ? ADVICE.locked : ADVICE.initiator;
}

/** The questions of `kesc rail probe`, in the order in which to ask them. None moves a shilling. */
export function probesOf(account: MpesaAccount, client: DarajaClient, now: () => UnixMillis): readonly RailProbe[] {
  const post = (path: string, body: Parameters<DarajaClient["post"]>[1], signal: AbortSignal): Promise<DarajaAnswer> =>
    client.post(path, body, signal);
  return [
    { product: "token", isFirst: true, ask: (signal) => probeToken(client, signal) },
    { product: "clock", ask: () => Promise.resolve(probeClock(client, now())) },
    {
      product: "push",
      ask: async (signal) => readPushQuery(await post(STK_QUERY_PATH, pushQuery(NO_PROMPT, account, now()), signal)),
    },
    {
      product: "received payments",
      ask: async (signal) => {
        const period = { from: (now() - LISTED_MILLIS) as UnixMillis, to: now() };
        return readList(await post(PULL_PATH, pullRequest(account.collectShortcode, period, 0), signal));
      },
    },
    {
      product: "balance",
      usesInitiator: true,
      answersLater: true,
      ask: async (signal, question) =>
        readQuestion(await post(BALANCE_PATH, balanceRequest(account, question), signal), "balance", BALANCE_PATH),
      adviceOn: adviceOnInitiator,
    },
    {
      product: "status query",
      usesInitiator: true,
      ask: async (signal, question) => {
        const request = statusRequest({ conversation: NO_PAYMENT, question }, account);
        return readQuestion(await post(STATUS_PATH, request, signal), "status", STATUS_PATH);
      },
    },
    { product: "payout", ask: () => Promise.resolve(notAsked(B2C_PATH)) },
    ...(account.capabilities.REDEEM.destinations?.TILL === undefined &&
    account.capabilities.REDEEM.destinations?.PAYBILL === undefined
      ? []
      : [{ product: "payout to a business", ask: () => Promise.resolve(notAsked(B2B_PATH)) }]),
  ];
}

function notAsked(place: string): ProbeAnswer {
  return { result: "not asked", place, advice: ADVICE.notAsked };
}

async function probeToken(client: DarajaClient, signal: AbortSignal): Promise<ProbeAnswer> {
  const problem = await client.tryToken(signal);
  if (problem === undefined) return { result: "works", place: TOKEN_PATH };
  const { code, fault } = problem;
  if (fault === undefined) return { result: "unanswered", code, place: TOKEN_PATH, advice: ADVICE.network };
  const advice = fault.kind === "credentials" ? ADVICE.app : ADVICE.path;
  return { result: "wrong", code: fault.code, place: TOKEN_PATH, advice };
}

/** A token, a prompt and a list are made and read by the clock. */
function probeClock({ toldMillis }: DarajaClient, now: UnixMillis): ProbeAnswer {
  const place = "Date of M-Pesa's answer";
  if (toldMillis === undefined) return { result: "not asked", place, advice: "M-Pesa's answers name no time." };
  const aheadMillis = now - toldMillis;
  if (Math.abs(aheadMillis) <= CLOCK_MILLIS_MAX) return { result: "works", place };
  const seconds = String(Math.round(Math.abs(aheadMillis) / SECOND_MILLIS));
  const side = aheadMillis > 0 ? "ahead of" : "behind";
  const here = new Date(now).toISOString();
  const advice = `This server's clock (${here}) is ${seconds} seconds ${side} M-Pesa's. Set it by NTP.`;
  return { result: "wrong", code: "CLOCK", place, advice };
}

/**
 * Reads the answer about a prompt that does not exist. Only here 500.001.1001 means that M-Pesa has
 * understood everything but the prompt, unless its message says otherwise.
 */
export function readPushQuery(answer: DarajaAnswer): ProbeAnswer {
  const place = STK_QUERY_PATH;
  if (answer.kind === "answered") {
    const { code, message } = answer;
    if (/merchant does not exist|business ?short ?code/i.test(message))
      return { result: "wrong", code, place: STK_QUERY_PATH, advice: ADVICE.shortcode };
    if (/wrong credentials/i.test(message)) return { result: "wrong", code, place, advice: ADVICE.passkey };
    if (code === "500.001.1001" || /checkout ?request ?id/i.test(message)) return { result: "works", code, place };
  }
  return withShortcode(readQuestion(answer, "push query", place), ADVICE.shortcode);
}

/** Of Pull, 401.001 says that the app lacks the product. */
function readList(answer: DarajaAnswer): ProbeAnswer {
  const place = PULL_PATH;
  if (answer.kind === "answered") {
    const { code, isOk, message, body } = answer;
    const said = typeof body["ResponseCode"] === "string" ? body["ResponseCode"] : code;
    if (isOk && said === "1000") return { result: "works", place };
    if (isOk && said === "1001") return { result: "works", code: said, place, advice: ADVICE.empty };
    if (code === "401.001") return { result: "lacking", code, place, advice: ADVICE.product };
    if (/regist/i.test(message)) return { result: "wrong", code, place, advice: ADVICE.pull };
    if (/short ?code/i.test(message))
      return { result: "wrong", code, place, advice: `${ADVICE.pull} ${ADVICE.shortcode}` };
  }
  return readQuestion(answer, "list", place);
}

/** Reads whether M-Pesa has taken a question. */
export function readQuestion(answer: DarajaAnswer, of: DarajaRequest, place: string): ProbeAnswer {
  if (answer.kind !== "answered") {
    const isToken = answer.fault?.kind === "credentials";
    if (isToken) return { result: "wrong", code: answer.code, place, advice: ADVICE.app };
    return { result: "unanswered", code: answer.code, place, advice: ADVICE.busy };
  }
  const { reading, code, words } = readAnswer(answer, of);
  switch (reading) {
    case "taken":
      return { result: "works", place };
    case "no product":
      return { result: "lacking", code, place, advice: ADVICE.product };
    case "app refused":
    case "token refused":
      return { result: "wrong", code, place, advice: ADVICE.app };
    case "asked wrongly": {
      const isPath = /^404|^HTTP_404/.test(code);
      const field = /short ?code|partya/i.test(answer.message) ? ADVICE.payOut : `${ADVICE.field} It says: ${words}.`;
      return { result: "wrong", code, place, advice: isPath ? ADVICE.path : field };
    }
    case "not now":
    case "turned away":
    case "unknown":
      return { result: "unanswered", code, place, advice: `${ADVICE.busy} It says: ${words}.` };
  }
}

function withShortcode(answer: ProbeAnswer, advice: string): ProbeAnswer {
  return answer.advice === ADVICE.payOut ? { ...answer, advice } : answer;
}
