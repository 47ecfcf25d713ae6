import { errorPathOf, titleOf } from "../problems/problem.js";
import type { Reason } from "../problems/reasons.js";
import type { Page } from "./page.js";

const INDEX = "/errors";

/**
 * Makes a page for each reason, to which the `type` of a problem points, and /errors, which lists
 * them. By path.
 */
export function errorPages(reasons: readonly Reason[]): ReadonlyMap<string, Page> {
  const index: Page = {
    title: "The errors of this service",
    blocks: [
      {
        kind: "rows",
        rows: reasons.map(({ code, meaning }) => ({ term: errorPathOf(code), href: errorPathOf(code), text: meaning })),
      },
    ],
  };
  return new Map([
    [INDEX, index],
    ...reasons.map((reason): [string, Page] => [errorPathOf(reason.code), errorPage(reason)]),
  ]);
}

function errorPage({ code, httpStatus, grpcStatus, facts, meaning, remedy }: Reason): Page {
  return {
    title: titleOf(code),
    blocks: [
      {
        kind: "rows",
        rows: [
          { term: "code", text: code },
          { term: "HTTP", text: String(httpStatus) },
          { term: "gRPC", text: grpcStatus ?? "none: only the gateway gives this error" },
          { term: "facts", text: facts.length === 0 ? "none" : facts.join(", ") },
        ],
      },
      { kind: "paragraph", text: `Meaning: ${meaning}.` },
      { kind: "paragraph", text: `What to do: ${remedy}.` },
      { kind: "paragraph", text: `All errors: ${INDEX}` },
    ],
  };
}
