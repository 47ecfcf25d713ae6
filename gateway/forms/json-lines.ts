import type { Message } from "@bufbuild/protobuf";

import type { Resumption, StreamRule } from "../../contract/stream-rule.js";
import { Progress } from "./progress.js";
import type { StreamForm } from "./stream-form.js";

/**
 * Writes each item as JSON on a line of its own. In a stream without an end, other lines say only
 * how far it has come: {"next_sequence":42}.
 */
export function linesForm(resumption: Resumption | undefined, write: (item: Message) => string): StreamForm {
  const form = {
    contentType: "application/x-ndjson",
    begin: () => "",
    items: (items: readonly Message[]) => items.map((item) => `${write(item)}\n`).join(""),
    endOfMessage: () => "",
    end: () => "",
  };
  if (resumption === undefined) return { ...form, fileType: "ndjson" };
  const progress = new Progress(resumption);
  const position = (): string =>
    progress.position === undefined ? "" : `{"${resumption.next.name}":${String(progress.position)}}\n`;
  return {
    ...form,
    items: (items) => {
      for (const item of items) progress.pass(item);
      return form.items(items);
    },
    endOfMessage: (message) => (progress.passEndOf(message) ? position() : ""),
    heartbeat: position,
  };
}

/** Writes a stream that ends as one JSON object with the list of all items. */
export function jsonForm({ list }: StreamRule, write: (item: Message) => string): StreamForm {
  let separator = "";
  return {
    contentType: "application/json; charset=utf-8",
    begin: () => `{${JSON.stringify(list.name)}:[`,
    items: (items) => {
      let text = "";
      for (const item of items) {
        text += separator + write(item);
        separator = ",";
      }
      return text;
    },
    endOfMessage: () => "",
    end: () => "]}",
  };
}
