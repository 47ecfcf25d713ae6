import type { JsonValue } from "@bufbuild/protobuf";

/** A text as it is; any other value as JSON. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}
