import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";

import { textUnder } from "./sections.js";

/** The blocks that a reader pastes into bash: of a document, or under a heading of it. */
export function blocksOf(document: string, heading?: string): readonly string[] {
  return codeOf(document, "bash", heading);
}

/** The blocks of code of a language; "" for those of none. */
export function codeOf(document: string, language: string, heading?: string): readonly string[] {
  const text = heading === undefined ? readFileSync(document, "utf8") : textUnder(heading, document);
  const blocks = text.matchAll(/^ *```(\w*)\n([\s\S]*?)^ *```$/gm);
  return [...blocks].filter(([, of]) => of === language).map(([, , code = ""]) => code);
}

/**
 * Pastes the blocks into bash, one after the other. The requests go to these addresses. Returns the
 * lines that are not empty.
 */
export async function pasted(
  blocks: readonly string[],
  { http, grpc }: { readonly http: string; readonly grpc: string },
  env: Readonly<Record<string, string | undefined>>,
): Promise<string[]> {
  const script = blocks
    .join("\necho\n")
    .replaceAll("http://127.0.0.1:8080", `http://${http}`)
    .replaceAll("http://127.0.0.1:50051", `http://${grpc}`);
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], { env });
  return stdout.split("\n").filter((line) => line !== "");
}
