import type { Message } from "@bufbuild/protobuf";

import { valueOf } from "../../contract/json-support.js";
import type { Resumption } from "../../contract/stream-rule.js";
import { Progress } from "./progress.js";
import type { StreamForm } from "./stream-form.js";

// After a restart not all clients come back in the same moment.
const RETRY_MILLIS_MIN = 1_000;
const RETRY_MILLIS_MAX = 4_000;

const LINE_ENDS = /[\r\n]+/g;

/**
 * Writes Server-Sent Events. The id of an event is its sequence: a client that has lost its
 * connection sends it as Last-Event-ID.
 *
 * An id without data is no event. It only sets the id that the client sends, so that the client
 * does not read again what the filter has passed over.
 */
export function eventStreamForm(resumption: Resumption, write: (item: Message) => string): StreamForm {
  const progress = new Progress(resumption);
  const typeOf = (item: Message): string => {
    const type = resumption.type === undefined ? "" : (valueOf(item, resumption.type) as string);
    return type === "" ? "" : `event: ${type.replaceAll(LINE_ENDS, " ")}\n`;
  };
  return {
    contentType: "text/event-stream",
    begin: () => {
      const retryMillis = RETRY_MILLIS_MIN + Math.floor(Math.random() * (RETRY_MILLIS_MAX - RETRY_MILLIS_MIN));
      return `retry: ${String(retryMillis)}\n\n`;
    },
    items: (items) => {
      let text = "";
      for (const item of items) text += `id: ${String(progress.pass(item))}\n${typeOf(item)}data: ${write(item)}\n\n`;
      return text;
    },
    endOfMessage: (message) => (progress.passEndOf(message) ? `id: ${String(progress.position)}\n\n` : ""),
    heartbeat: () => ":\n\n",
    end: () => "",
    problem: (json) => `event: error\ndata: ${json}\n\n`,
  };
}
