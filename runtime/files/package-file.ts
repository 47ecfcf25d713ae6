import { existsSync } from "node:fs";

/** The folder of package.json. */
const ROOT = rootAbove(new URL(".", import.meta.url));

/**
 * Returns the URL of a file of this package, by its path beside package.json. No module may name
 * such a file relative to itself: the bundle moves the modules to another folder.
 */
export function packageFile(path: string): URL {
  return new URL(path, ROOT);
}

function rootAbove(folder: URL): URL {
  if (existsSync(new URL("package.json", folder))) return folder;
  if (folder.pathname === "/") throw new Error(`no package.json above ${import.meta.url}`);
  return rootAbove(new URL("..", folder));
}
