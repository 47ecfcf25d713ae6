import type {
  LimitSetting,
  PayoutCheck,
  RailAccount,
  TestPayoutCheckResponse,
  WebhookDelivery,
} from "../gen/messages.js";
import type { Fields } from "../upstream/contract.js";
import { limitWords, moneyText } from "../view/values.js";
import type { Act, Given } from "./act.js";

// The address, the types and the words of an endpoint are its organization's.
const ENDPOINT_WITHOUT = ["url", "types", "description", "etag"];

const status =
  (after: string): NonNullable<Act["changes"]> =>
  (before) => [["Status", before["status"] as string, after]];

const payouts =
  (after: string): NonNullable<Act["changes"]> =>
  (before) => [["Payouts", (before["account"] as RailAccount | undefined)?.payouts ?? "none", after]];

/** Who can open payouts. Support can only close them. */
const OPENS_PAYOUTS = ["finance", "admin"];

const limitsIn = (before: Fields): readonly LimitSetting[] => (before["limits"] ?? []) as readonly LimitSetting[];

const limitIn = (before: Fields, { type, period }: Given): LimitSetting | undefined =>
  limitsIn(before).find((each) => each.type === type && each.period === period);

const limit: NonNullable<Act["changes"]> = (before, given) => {
  const { type = "", period = "", max_amount = "", lift } = given;
  const now = limitIn(before, given)?.max_amount ?? "no limit";
  return [[limitWords(type, period), now, lift === "true" ? "no limit" : moneyText(max_amount)]];
};

const deliveryFacts: NonNullable<Act["result"]> = ({ delivery }) => {
  const { succeeded, http_status, problem, duration_millis } = delivery as WebhookDelivery;
  return [
    ["Delivered", succeeded ? "yes" : "no"],
    ["Response", http_status === null ? "none" : `HTTP ${String(http_status)}`],
    ...(problem === null ? [] : [["Why not", problem] as const]),
    ["Took", `${duration_millis.toLocaleString("en")} ms`],
  ];
};

/** The check that a form sets may be the first one. */
const check: NonNullable<Act["changes"]> = (before, { url = "", deadline_seconds = "", no_answer = "" }) => {
  const { url: asked, deadline_seconds: seconds, no_answer: silence } = before as Partial<PayoutCheck>;
  return [
    ["Service that is asked first", asked ?? "none", url],
    ["Seconds for an answer", seconds === undefined ? "none" : String(seconds), deadline_seconds],
    ["Without an answer", silence ?? "none", no_answer],
    ["Secret", asked === undefined ? "none" : "this one, for a day more", "another one"],
  ];
};

const answerFacts: NonNullable<Act["result"]> = (response) => {
  const { answer, code, problem } = response as TestPayoutCheckResponse;
  if (problem !== null) return [["No answer", problem]];
  return [["Answer", answer], ...(code === null ? [] : [["Code", code] as const])];
};

/** What those who operate the service do about rails, payouts, limits and webhooks. */
export const OPERATING_ACTS: readonly Act[] = [
  {
    name: "close-payouts",
    rpc: "AdminService/SetPayouts",
    title: "Close payouts",
    subject: "rail",
    fixed: { payouts: "closed" },
    changes: payouts("closed"),
  },
  {
    name: "open-payouts",
    rpc: "AdminService/SetPayouts",
    title: "Open payouts, without the automatic hold",
    subject: "rail",
    fixed: { payouts: "open" },
    roles: OPENS_PAYOUTS,
    changes: payouts("open"),
  },
  {
    name: "auto-payouts",
    rpc: "AdminService/SetPayouts",
    title: "Open payouts, with the automatic hold",
    subject: "rail",
    fixed: { payouts: "auto" },
    roles: OPENS_PAYOUTS,
    changes: payouts("auto"),
  },
  {
    name: "stop-file",
    rpc: "AdminService/StopFile",
    title: "Stop the file",
    subject: "sha256",
    isFinal: true,
    changes: (before) => [["Rows that nobody has decided", before["state"] as string, "refused"]],
  },
  {
    name: "set-check",
    rpc: "AdminService/SetPayoutCheck",
    title: "Set the service that is asked",
    about: "url",
    changes: check,
  },
  {
    name: "test-check",
    rpc: "AdminService/TestPayoutCheck",
    title: "Test the service",
    repeats: true,
    result: answerFacts,
  },
  { name: "clear-check", rpc: "AdminService/ClearPayoutCheck", title: "Ask no service any more" },
  {
    name: "default-rail",
    rpc: "AdminService/SetDefaultRail",
    title: "Make it the default rail",
    subject: "rail",
    changes: (before, { rail = "" }) => [["Default rail", before["default"] as string, rail]],
  },
  {
    name: "limit",
    rpc: "AdminService/SetLimits",
    title: "Change the limit",
    subject: "tier",
    given: ["type", "period"],
    member: "changes",
    without: ["remove"],
    changes: limit,
  },
  {
    name: "tier-limit",
    rpc: "AdminService/SetLimits",
    title: "Set a limit of another tier",
    about: "tier",
    member: "changes",
    without: ["remove"],
    changes: limit,
  },
  {
    name: "remove-limits",
    rpc: "AdminService/SetLimits",
    title: "Remove all of these limits",
    subject: "tier",
    fixed: { remove: true },
    changes: (before) =>
      limitsIn(before).map(({ type, period, max_amount }) => [limitWords(type, period), max_amount, "no limit"]),
  },
  {
    name: "enable-endpoint",
    rpc: "WebhookService/UpdateWebhookEndpoint",
    title: "Send events to it again",
    subject: "webhook_endpoint_id",
    without: ENDPOINT_WITHOUT,
    fixed: { status: "active" },
    changes: status("active"),
  },
  {
    name: "pause-endpoint",
    rpc: "WebhookService/UpdateWebhookEndpoint",
    title: "Pause it",
    subject: "webhook_endpoint_id",
    without: ENDPOINT_WITHOUT,
    fixed: { status: "paused" },
    changes: status("paused"),
  },
  {
    name: "test-endpoint",
    rpc: "WebhookService/SendTestEvent",
    title: "Send a test event",
    subject: "webhook_endpoint_id",
    repeats: true,
    result: deliveryFacts,
  },
  {
    name: "resend",
    rpc: "WebhookService/ResendWebhookDelivery",
    title: "Send the event again",
    subject: "webhook_endpoint_id",
    given: ["sequence"],
    repeats: true,
  },
  {
    name: "replay",
    rpc: "WebhookService/ReplayWebhookEvents",
    title: "Send a range of events again",
    subject: "webhook_endpoint_id",
    repeats: true,
  },
];
