#!/usr/bin/env -S node --max-semi-space-size=64
// The option is for the server: see young-generation.ts.
import { runKesc } from "./run-kesc.js";

const exitCode = await runKesc(process.argv.slice(2));
// The gateway, which goes on, may have set another.
process.exitCode ??= exitCode;
// The listener for "disconnect" would keep a failed process alive.
if (exitCode !== 0 && process.connected) process.disconnect();
