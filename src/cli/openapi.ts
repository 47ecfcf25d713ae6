import { readFileSync } from "node:fs";

import type { Command } from "commander";

import { OPENAPI_URL } from "../../gateway/pages/openapi.js";
import { printTextInTurn } from "./commands/output.js";

/** `kesc openapi`: prints the OpenAPI document of the REST API. */
export function addOpenapi(program: Command): void {
  program
    .command("openapi")
    .description("print the OpenAPI 3.1 document of the REST API")
    .action(() => printTextInTurn(readFileSync(OPENAPI_URL, "utf8")));
}
