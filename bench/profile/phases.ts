import type { Stack } from "./cpu-profile.js";

// A map: a function may be called "constructor".
const NATIVE = new Map([
  ["(garbage collector)", "garbage collector"],
  ["(idle)", "idle"],
]);

/** Rows that a folder's name alone does not give, by the file's URL and the function. */
const SPECIAL: readonly (readonly [name: string, file: RegExp, functions?: RegExp])[] = [
  ["SQLite: load", /\/sqlite\/statements\.js$/, /^select$/],
  ["SQLite: save", /\/sqlite\/statements\.js$/, /^write$/],
  ["SQLite: commit, on disk", /\/sqlite\/statements\.js$/, /^commit$/],
  ["messages between the threads", /(node:internal\/worker|per_context\/messageport)/],
  ["Node: HTTP, streams and sockets", /^node:(internal\/)?(http2|_http_|net|stream)/],
  ["protobuf: decode and encode", /(\/dist\/src\/gen\/|node_modules\/@bufbuild\/protobuf\/)/],
];

/** `src/grpc/messages` of …/dist/src/grpc/messages/account.js, `gateway/rest` and the like. */
const OURS = /\/dist\/((?:src\/\w[\w-]*|gateway|contract|runtime)(?:\/\w[\w-]*)??)\/[^/]+\.js$/;
const PACKAGE = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/**
 * The name of the code that a sample belongs to: that of the innermost frame which is one of ours,
 * of a package, or of Node's network. What a function of ours calls of Node is its own time.
 */
export function phaseOf(stack: Stack): string {
  const native = NATIVE.get(stack[0]?.functionName ?? "");
  if (native !== undefined) return native;
  for (const { url, functionName } of stack) {
    const special = SPECIAL.find(([, file, functions]) => file.test(url) && (functions?.test(functionName) ?? true));
    const name = special?.[0] ?? PACKAGE.exec(url)?.[1] ?? OURS.exec(url)?.[1];
    if (name !== undefined) return name;
  }
  return "native code and the rest";
}
