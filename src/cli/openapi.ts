import { readFileSync } from "node:fs";

import type { Command } from "commander";

import { CONTRACT_URL, readContract } from "../../contract/contract.js";
import { openapiText } from "../../gateway/openapi/document.js";
import { printTextInTurn } from "./commands/output.js";

/** `kesc openapi`: prints the OpenAPI document of the REST API, by the contract of this build. */
export function addOpenapi(program: Command): void {
  program
    .command("openapi")
    .description("print the OpenAPI 3.1 document of the REST API")
    .action(() => printTextInTurn(openapiText(readContract(readFileSync(CONTRACT_URL)))));
}
