import type { Stack } from "./cpu-profile.js";

/**
 * What is done for a call, in the order of its way, and by what it is known: the file, and at times
 * the function.
 */
const PHASES: readonly (readonly [phase: string, files: RegExp, functions?: RegExp])[] = [
  ["storage: begin", /sqlite-transaction\.js$/, /^begin$/],
  ["storage: load", /sqlite-transaction\.js$/, /^select$/],
  ["storage: save", /sqlite-transaction\.js$/, /^write$/],
  ["storage: commit, on disk", /sqlite-transaction\.js$/, /^commit$/],
  ["storage: rows to resources and back", /src\/storage\/(ledger-store|rows|ledger-statements)\.js$/],
  ["storage: read", /src\/storage\/(sqlite-reader|reads)\.js$/],
  ["domain: decide", /src\/(domain|ledger\/(batch|batch-book|lookup))[^.]*\.js$/],
  ["between the threads", /(src\/storage\/sqlite-thread|node:internal\/worker|per_context\/messageport)/],
  ["ledger: queue", /(src\/ledger\/ledger\.js|node_modules\/(tarn|knex)\/)/],
  ["log", /node_modules\/(pino|sonic-boom|thread-stream|safe-stable-stringify|quick-format-unescaped)\//],
  ["authentication", /(api-key-authenticator\.js$|node_modules\/lru-cache\/)/],
  ["ids", /node_modules\/(typeid-js|uuid)\//],
  ["decode and encode", /(node_modules\/@bufbuild\/protobuf\/|src\/gen\/|src\/grpc\/(encode|\w+-codec|fields)\.js$)/],
  ["gateway: JSON and the contract", /dist\/gateway\/(json|scalar|timestamp|request|headers|problem|contract|path)/],
  ["gateway: the rest of ours", /dist\/gateway\//],
  ["Express and its middleware", /node_modules\/(express|router|finalhandler|send|helmet|body-parser|qs|parseurl)\//],
  ["handlers", /dist\/src\//],
  ["grpc-js", /node_modules\/@grpc\/grpc-js\//],
  ["HTTP, streams and sockets", /^node:(internal\/)?(http2|_http_|net|stream)/],
];

const NATIVE: ReadonlyMap<string, string> = new Map([
  ["(garbage collector)", "garbage collector"],
  ["(idle)", "idle"],
]);

/**
 * The phase in which a sample was taken: that of the innermost frame which belongs to one, so that
 * the time that is formatted for the log is the log's.
 */
export function phaseOf(stack: Stack): string {
  const native = NATIVE.get(stack[0]?.functionName ?? "");
  if (native !== undefined) return native;
  for (const { url, functionName } of stack) {
    const found = PHASES.find(([, files, functions]) => files.test(url) && (functions?.test(functionName) ?? true));
    if (found !== undefined) return found[0];
  }
  return "native code and the rest";
}
