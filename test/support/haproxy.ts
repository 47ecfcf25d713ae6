import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { TLS_CERT_FILE, TLS_KEY_FILE } from "./tls/files.js";

/** A proxy that runs with the configuration that we ship. */
export interface RunningProxy {
  readonly child: ChildProcess;
  /** What it has said. */
  readonly log: () => string;
}

/** Starts HAProxy, with its certificate in this folder. The variables name the addresses. */
export function startHaproxy(folder: string, variables: Readonly<Record<string, string>>): RunningProxy {
  const certificate = join(folder, "kesc.pem");
  writeFileSync(certificate, [TLS_CERT_FILE, TLS_KEY_FILE].map((file) => readFileSync(file, "utf8")).join(""));
  const child = spawn("haproxy", ["-db", "-n", "1000", "-f", "deploy/haproxy/haproxy.cfg"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, CERT: certificate, ...variables },
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (log += chunk.toString()));
  return { child, log: () => log };
}
