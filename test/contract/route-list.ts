import { readFileSync } from "node:fs";

import { CONTRACT_URL, readContract, type Route } from "../../contract/contract.js";

/** Returns a line for each REST route: what its callers rely on, and buf does not compare. */
export function routeList(routes = readContract(readFileSync(CONTRACT_URL)).routes): readonly string[] {
  return routes.map(lineOf).sort();
}

function lineOf({ method, path, rpc, body, responseField, location }: Route): string {
  const bodyName = "field" in body ? body.field.name : body.kind;
  return [
    `${method} ${path.text}`,
    rpc.path,
    `body: ${bodyName}`,
    `response: ${responseField?.name ?? "all"}`,
    `location: ${location?.path.text ?? "none"}`,
  ].join(" | ");
}
