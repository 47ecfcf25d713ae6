import { textOf } from "../../commands/output.js";
import type { OneRow } from "../row.js";
import type { CommandRows, Written } from "./written.js";

const EXAMPLE = 'whe_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme"';

/** What an engineer on call does about deliveries. Addresses and secrets are the organization's. */
export const WEBHOOK_ROWS: CommandRows = {
  "webhook enable": status("active", {
    description: "send events to an endpoint again, with those that came meanwhile",
    done: "{url} gets events. What waits for another attempt goes out at once.",
  }),
  "webhook pause": status("paused", {
    description: "send no events to an endpoint; they wait in the book",
    done: "{url} gets no events. They wait until it is enabled.",
  }),
  "webhook test": {
    description: "send a test event to an endpoint at once, and show what came of it",
    rpc: "SendTestEvent",
    examples: [EXAMPLE],
    parameters: ["<endpoint-id>", "--org"],
    needsOperator: "Only a server sends events",
    done: ({ succeeded, http_status: code, problem, duration_millis: millis }) =>
      `${succeeded === true ? "Delivered" : `Not delivered: ${textOf(problem)}`}, ` +
      `${code === null ? "no response" : `HTTP ${textOf(code)}`}, ${textOf(millis)} ms.`,
    adviceOnLoss: "To send another one, run it again.",
  },
  "webhook resend": {
    description: "send one event to an endpoint again",
    rpc: "ResendWebhookDelivery",
    examples: [`${EXAMPLE} --sequence 1234`],
    parameters: ["<endpoint-id>", "--org", "--sequence"],
    done: "{--sequence} is sent to {url} again, as soon as the endpoint is active and works.",
    adviceOnLoss: "To send it again, run it again. The receiver knows the event by its webhook-id.",
  },
  "webhook replay": {
    description: "send a range of events to an endpoint again, beside the new ones",
    rpc: "ReplayWebhookEvents",
    examples: [`${EXAMPLE} --from 1000 --before 1200`],
    parameters: ["<endpoint-id>", "--org", "--from", "--before?"],
    done: "Events from {--from} on are sent to {url} again, beside the new ones.",
    adviceOnLoss: "To see whether it runs: kesc org endpoints ORG --json",
  },
};

function status(mode: "active" | "paused", words: Pick<OneRow, "description" | "done">): Written<OneRow> {
  return {
    ...words,
    rpc: "UpdateWebhookEndpoint",
    examples: [EXAMPLE],
    parameters: ["<endpoint-id>", "--org"],
    request: () => ({ fields: { status: mode } }),
    unchanged: `{url} was ${mode} before.`,
  };
}
