import { readFile } from "node:fs/promises";

import { packageFile } from "../../runtime/files/package-file.js";

/** The OpenAPI document of this build, which `make docs` writes. Its servers are paths. */
export const OPENAPI_URL = packageFile("openapi.json");

/** Returns the document, with servers at the public URL of the gateway. Empty: paths. */
export async function openapiAt(publicUrl: string): Promise<string> {
  const text = await readFile(OPENAPI_URL, "utf8");
  if (publicUrl === "") return text;
  const document = JSON.parse(text) as { readonly servers: readonly { readonly url: string }[] };
  const servers = document.servers.map((server) => ({ ...server, url: publicUrl + server.url.replace(/\/$/, "") }));
  return `${JSON.stringify({ ...document, servers }, null, 2)}\n`;
}
