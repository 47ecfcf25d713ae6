import type { Command } from "commander";

import { durationMillis } from "../commands/arguments.js";

/** The options of each command that calls a server. */
export interface SessionOptions {
  readonly address?: string;
  readonly keyFile?: string;
  readonly deadline?: number;
}

// No option takes the key itself: every user of the machine can read the arguments of a process.
const KEY_HELP = `
The API key comes from KESC_API_KEY, or from the file that KESC_API_KEY_FILE or --key-file names. No argument takes
it, because every user of this machine can see the arguments of a command.`;

/** Adds the options of a command that calls a server. */
export function withSessionOptions(command: Command): Command {
  return command
    .option("--address <address>", "address of the server: host:port or unix:/path (default: KESC_GRPC_ADDRESS)")
    .option("--key-file <file>", "file that holds the API key (default: the key in KESC_API_KEY)")
    .option(
      "--deadline <duration>",
      "time that the call may take, such as 5s or 2m (default: 30s; a stream may take any time)",
      durationMillis,
    )
    .addHelpText("after", KEY_HELP);
}
