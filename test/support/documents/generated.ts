import { readFileSync } from "node:fs";

import type { DescEnum } from "@bufbuild/protobuf";

import { withResults } from "../../../bench/report/render.js";
import { newestResults } from "../../../bench/report/results.js";
import { lineOf } from "../../../contract/comments.js";
import { CONTRACT_URL, readContract } from "../../../contract/contract.js";
import { openapiText } from "../../../gateway/openapi/document.js";
import { reasonsOf } from "../../../gateway/problems/reasons.js";
import { VARIABLE_GROUPS } from "../../../runtime/variables/declarations.js";
import { readContract as readServerContract } from "../../../src/grpc/messages/contract.js";
import { metricsReference } from "./metrics.js";
import { commandsReference, variablesReference, withReference } from "./reference.js";
import { inColumns, withCode, withSection } from "./sections.js";
import { withTable } from "./table.js";

type Rows = readonly (readonly string[])[];

/**
 * The documents that the code and the results of the benchmark write, in whole or in part: each
 * path with the text that the file must have. `make docs` writes them, and test/lint compares
 * them.
 */
export async function generatedDocuments(): Promise<ReadonlyMap<string, string>> {
  let api = readFileSync("docs/api.md", "utf8");
  api = withCode(api, "## Calls", rpcLines());
  api = withCode(api, "## Filters", filterLines());
  let errors = readFileSync("docs/errors.md", "utf8");
  errors = withSection(errors, "## Reasons", reasonSection());
  errors = withSection(errors, "## Fields", fieldReasonSection());
  errors = withSection(errors, "## Reasons of the gateway", ownReasonSection());
  return new Map([
    ["openapi.json", openapiText(readContract(readFileSync(CONTRACT_URL)))],
    ["README.md", withTable(readFileSync("README.md", "utf8"), "## Configuration", variableRows())],
    ["docs/api.md", api],
    ["docs/configuration.md", withReference(readFileSync("docs/configuration.md", "utf8"), variablesReference())],
    ["docs/commands.md", withReference(readFileSync("docs/commands.md", "utf8"), commandsReference())],
    ["docs/errors.md", errors],
    ["docs/metrics.md", withReference(readFileSync("docs/metrics.md", "utf8"), await metricsReference(), "The server")],
    ["docs/performance.md", withResults(readFileSync("docs/performance.md", "utf8"), newestResults())],
  ]);
}

const { services, files } = readServerContract();

/** Each service, and below it its rpcs. */
function rpcLines(): readonly string[] {
  const routes = new Map(readContract(readFileSync(CONTRACT_URL)).routes.map((route) => [route.rpc.path, route]));
  const rows = services.flatMap(({ rpcs }) =>
    rpcs.map(({ path, name, isPublic, requiredScope, idempotencyKey }) => {
      const route = routes.get(path);
      const [service = "", rpc = ""] = name.split("/");
      const scope = requiredScope ?? (isPublic ? "no key" : "any key");
      const mark = idempotencyKey === "taken" ? "†" : "";
      return [service, `  ${rpc}${mark}`, route?.method ?? "", route?.path.text ?? "no route", scope];
    }),
  );
  const lines = inColumns(rows.map(([, ...cells]) => cells));
  return lines.flatMap((line, index) => {
    const service = rows[index]?.[0] ?? "";
    return service === rows[index - 1]?.[0] ? [line] : [service, line];
  });
}

/** The fields of the requests of all lists, apart from those of pages and of paths. */
function filterLines(): readonly string[] {
  const { routes } = readContract(readFileSync(CONTRACT_URL));
  const rows = routes.flatMap(({ rpc, pathFields }) => {
    const [, list] = /\/(List\w+)$/.exec(rpc.path) ?? [];
    const filters = rpc.input.fields.filter((field) => !field.name.startsWith("page_") && !pathFields.includes(field));
    return list === undefined || filters.length === 0 ? [] : [[list, filters.map(({ name }) => name).join(", ")]];
  });
  return inColumns(rows);
}

/** The reasons of the contract, by status. */
function reasonSection(): string {
  const byStatus = new Map<string, string[]>();
  const reasons = reasonsOf(files).toSorted((one, other) => one.httpStatus - other.httpStatus);
  for (const { code, grpcStatus, httpStatus, facts, remedy } of reasons) {
    if (grpcStatus === undefined) continue;
    const status = `### ${String(httpStatus)} ${grpcStatus}`;
    const item = `- \`${code}\`${facts.length === 0 ? "" : ` (${facts.join(", ")})`}: ${remedy}`;
    byStatus.set(status, [...(byStatus.get(status) ?? []), item]);
  }
  return [...byStatus].map(([status, items]) => `${status}\n\n${items.join("\n")}`).join("\n\n");
}

function ownReasonSection(): string {
  const own = reasonsOf(files).filter(({ grpcStatus }) => grpcStatus === undefined);
  return own.map(({ code, httpStatus, remedy }) => `- \`${code}\` (${String(httpStatus)}): ${remedy}`).join("\n");
}

function fieldReasonSection(): string {
  const { values } = files.getEnum("kesc.v1.FieldReason") as DescEnum;
  const reasons = values.filter(({ number }) => number !== 0);
  return reasons
    .map((value) => {
      const meaning = lineOf(value).replace(/\.$/, "").replace(/^The/, "the");
      return `- \`${value.name.replace(/^FIELD_REASON_/, "")}\`: ${meaning}`;
    })
    .join("\n");
}

function variableRows(): Rows {
  const rows = Object.entries(VARIABLE_GROUPS["The eight that you set"]).map(([name, { fallback, meaning }]) => [
    `\`${name}\``,
    fallback === undefined ? "" : `\`${fallback}\``,
    meaning,
  ]);
  return [["variable", "default", "meaning"], ...rows];
}
