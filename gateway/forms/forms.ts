import type { Message } from "@bufbuild/protobuf";

import type { MessageWriter } from "../../contract/json/write-message.js";
import type { StreamRule } from "../../contract/stream-rule.js";
import { csvForm } from "./csv.js";
import { eventStreamForm } from "./event-stream.js";
import { jsonForm, linesForm } from "./json-lines.js";
import type { StreamForm } from "./stream-form.js";

export type MakeForm = () => StreamForm;

/**
 * Returns what makes the forms of a stream, by media type. A client that takes any type gets the
 * first. `hasJson` says whether the path has another route, which answers with JSON.
 */
export function formsOf(rule: StreamRule, writer: MessageWriter, hasJson: boolean): ReadonlyMap<string, MakeForm> {
  const { resumption } = rule;
  const write = (item: Message): string => writer.write(rule.list.message, item);
  if (resumption !== undefined) {
    return new Map([
      ["text/event-stream", () => eventStreamForm(resumption, write)],
      ["application/x-ndjson", () => linesForm(resumption, write)],
    ]);
  }
  const lines: [string, MakeForm][] = [
    ["application/x-ndjson", () => linesForm(undefined, write)],
    ["text/csv", () => csvForm(rule, writer)],
  ];
  return new Map([...(hasJson ? [] : [["application/json", () => jsonForm(rule, write)] as const]), ...lines]);
}
