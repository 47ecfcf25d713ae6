#!/usr/bin/env -S node --max-semi-space-size=64
// The option is for the server: see young-generation.ts.
import { nodeProblem } from "../startup/version.js";

const WRONG_USAGE = 2;

// Node 18 must load this file and those that it imports here. Every other file is imported after
// the check.
const problem = nodeProblem();
if (problem === undefined) {
  // Then a trace names files of the source. Otherwise nobody waits for the maps of the bundle.
  if (/^(debug|trace)$/.test(process.env["KESC_LOG_LEVEL"] ?? "")) process.setSourceMapsEnabled(true);
  const { fitYoungGeneration } = await import("./young-generation.js");
  fitYoungGeneration();
  const { runKesc } = await import("./run-kesc.js");
  const exitCode = await runKesc(process.argv.slice(2));
  // The gateway, which goes on, may have set another.
  process.exitCode ??= exitCode;
  // The listener for "disconnect" would keep a failed process alive.
  if (exitCode !== 0 && process.connected) process.disconnect();
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = WRONG_USAGE;
}
