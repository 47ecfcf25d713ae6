import type { CallbackAnswer } from "./callbacks.js";

/** How long M-Pesa waits for the answer of a ValidationURL. */
export const VALIDATION_MILLIS_MAX = 8_000;

/** What a business says of a payment that has not moved yet. */
export type Verdict =
  | { readonly kind: "accepted"; readonly thirdPartyTransId: string }
  | { readonly kind: "refused"; readonly code: string }
  | { readonly kind: "unreachable" };

/**
 * Reads the answer of a ValidationURL. The code 0 accepts, as a number or as a text, and any other
 * code refuses. No answer, another status than 200, and a body without a code are "unreachable".
 */
export function verdictOf(answer: CallbackAnswer | undefined): Verdict {
  const body = answer?.status === 200 ? fieldsOf(answer.text) : {};
  const code = looseText(body["ResultCode"]);
  if (code === "") return { kind: "unreachable" };
  if (code !== "0") return { kind: "refused", code };
  return { kind: "accepted", thirdPartyTransId: looseText(body["ThirdPartyTransID"]) };
}

/** The fields of a JSON object; none for any other text. */
function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object.fromEntries(Object.entries(JSON.parse(text) as object));
  } catch {
    return {};
  }
}

function looseText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
