import { readFileSync } from "node:fs";

import type { DescEnum, DescField } from "@bufbuild/protobuf";

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
import { withTable } from "./table.js";

type Rows = readonly (readonly string[])[];

/**
 * The documents that the code and the results of the benchmark write, in whole or in part: each
 * path with the text that the file must have. `make docs` writes them, and test/lint compares
 * them.
 */
export async function generatedDocuments(): Promise<ReadonlyMap<string, string>> {
  let errors = readFileSync("docs/errors.md", "utf8");
  errors = withTable(errors, "## Reasons", reasonRows());
  errors = withTable(errors, "## Fields", fieldReasonRows());
  errors = withTable(errors, "## Reasons of the gateway", ownReasonRows());
  return new Map([
    ["openapi.json", openapiText(readContract(readFileSync(CONTRACT_URL)))],
    ["README.md", withTable(readFileSync("README.md", "utf8"), "## Configuration", variableRows())],
    [
      "docs/api.md",
      withTable(withTable(readFileSync("docs/api.md", "utf8"), "## Calls", rpcRows()), "## Filters", filterRows()),
    ],
    ["docs/configuration.md", withReference(readFileSync("docs/configuration.md", "utf8"), variablesReference())],
    ["docs/commands.md", withReference(readFileSync("docs/commands.md", "utf8"), commandsReference())],
    ["docs/errors.md", errors],
    ["docs/metrics.md", withReference(readFileSync("docs/metrics.md", "utf8"), await metricsReference(), "The server")],
    ["docs/performance.md", withResults(readFileSync("docs/performance.md", "utf8"), newestResults())],
  ]);
}

const { services, files } = readServerContract();

function rpcRows(): Rows {
  const routes = new Map(readContract(readFileSync(CONTRACT_URL)).routes.map((route) => [route.rpc.path, route]));
  const rows = services.flatMap(({ rpcs }) =>
    rpcs.map(({ path, name, isPublic, requiredScope, idempotencyKey }) => {
      const route = routes.get(path);
      const rest = route === undefined ? "no route" : `\`${route.method} ${route.path.text}\``;
      const scope = requiredScope ?? (isPublic ? "no key" : "any key");
      return [name.replace("/", "."), rest, scope, idempotencyKey === "taken" ? "yes" : ""];
    }),
  );
  return [["rpc", "REST", "scope", "`Idempotency-Key`"], ...rows];
}

/** The fields of the requests of all lists, apart from those of pages and of paths. */
function filterRows(): Rows {
  const { routes } = readContract(readFileSync(CONTRACT_URL));
  const rows = routes.flatMap(({ rpc, pathFields }) => {
    const [, list] = /\/(List\w+)$/.exec(rpc.path) ?? [];
    const filters = rpc.input.fields.filter((field) => !field.name.startsWith("page_") && !pathFields.includes(field));
    return list === undefined ? [] : filters.map((field) => [list, `\`${field.name}\``, firstWordsOf(field)]);
  });
  return [["list", "filter", "matches"], ...rows];
}

/** The beginning of a comment, up to its first stop: what a filter matches. */
function firstWordsOf(field: DescField): string {
  const [words = ""] = lineOf(field).split(/[.:,;(](?: |$)|, \(| \(/);
  return words.replace(/^(?:Only|Return only|Return) /, "");
}

function reasonRows(): Rows {
  const rows = reasonsOf(files).flatMap(({ code, grpcStatus, httpStatus, facts, remedy }) =>
    grpcStatus === undefined ? [] : [[code, grpcStatus, String(httpStatus), facts.join(", "), remedy]],
  );
  return [["reason", "gRPC", "HTTP", "facts", "what to do"], ...rows];
}

function ownReasonRows(): Rows {
  const rows = reasonsOf(files).flatMap(({ code, grpcStatus, httpStatus, remedy }) =>
    grpcStatus === undefined ? [[code, String(httpStatus), remedy]] : [],
  );
  return [["code", "HTTP", "what to do"], ...rows];
}

function fieldReasonRows(): Rows {
  const { values } = files.getEnum("kesc.v1.FieldReason") as DescEnum;
  const rows = values
    .filter(({ number }) => number !== 0)
    .map((value) => {
      const meaning = lineOf(value).replace(/\.$/, "").replace(/^The/, "the");
      return [value.name.replace(/^FIELD_REASON_/, ""), meaning];
    });
  return [["code", "meaning"], ...rows];
}

function variableRows(): Rows {
  const rows = Object.entries(VARIABLE_GROUPS["The eight that you set"]).map(([name, { fallback, meaning }]) => [
    `\`${name}\``,
    fallback === undefined ? "" : `\`${fallback}\``,
    meaning,
  ]);
  return [["variable", "default", "meaning"], ...rows];
}
