import { readFileSync } from "node:fs";

import { packageFile } from "../../runtime/files/package-file.js";

interface Package {
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** Returns the version of KESC. */
export function version(): string {
  return readPackage().version;
}

/**
 * Returns in one line why KESC does not run on this version of Node, or undefined if it does:
 * `engines` in package.json names the versions.
 */
export function nodeProblem(running = process.versions.node): string | undefined {
  const { node } = readPackage().engines;
  if (node.split("||").some((range) => isWithin(running, range.trim()))) return undefined;
  return `KESC needs Node ${node.replaceAll(" ||", ",")}. This is Node ${running}.`;
}

/** Knows the form in package.json: ^22.23.2. What is not tried is not allowed (`make runtimes`). */
function isWithin(version: string, range: string): boolean {
  const [, lowest = ""] = /^\^(\d+\.\d+\.\d+)$/.exec(range) ?? [];
  const [found, least] = [version, lowest].map((text) => text.split(".").map(Number));
  if (lowest === "" || found === undefined || least === undefined || found[0] !== least[0]) return false;
  const differing = least.findIndex((part, index) => part !== found[index]);
  return differing === -1 || (found[differing] ?? 0) > (least[differing] ?? 0);
}

function readPackage(): Package {
  return JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as Package;
}
