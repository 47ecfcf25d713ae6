/** `make daraja`: a Daraja on this machine, for a server that runs here. */
import { parseArgs } from "node:util";

import { shutdownSignal } from "../../runtime/shutdown.js";
import { optionsOrUsage, wholeNumber } from "../attack/command-line.js";
import { INITIATOR_CERT_FILE } from "./access/security-credential.js";
import { type Daraja, startDaraja } from "./daraja.js";
import { scenarioRows } from "./page.js";

const PORT = "8090";
const USAGE = `usage: make daraja ARGS="--port ${PORT}"`;

async function main(port: number): Promise<void> {
  const stopping = shutdownSignal();
  const daraja = await startDaraja({ port });
  process.stdout.write(`${linesOn(daraja).join("\n")}\n`);
  await stopping;
  await daraja.close();
}

function linesOn({ url, organization }: Daraja): string[] {
  const settings = {
    URL: `${url} (open it in a browser to see what it holds)`,
    "consumer key": organization.consumerKey,
    "consumer secret": organization.consumerSecret,
    shortcode: organization.shortcode,
    passkey: organization.passkey,
    "initiator name": organization.initiatorName,
    "initiator password": organization.initiatorPassword,
    certificate: INITIATOR_CERT_FILE,
  };
  return [
    "The Daraja simulator runs until you stop it (Ctrl-C). It forgets everything then.",
    "",
    ...Object.entries(settings).map(([name, value]) => `${name.padEnd(20)}${value}`),
    "",
    "A customer's phone number is 2547 or 2541 and eight digits. Its last two choose what happens:",
    "",
    `      ${"STK push".padEnd(56)}B2C`,
    ...scenarioRows().map(([ending, collect, payOut]) => `  ${ending}  ${collect.padEnd(56)}${payOut}`),
    "",
    "Other endings are a success.",
  ];
}

const options = optionsOrUsage((args) => {
  const { values } = parseArgs({ args, options: { port: { type: "string", default: PORT } } });
  return { port: wholeNumber("port", values.port, { min: 0, max: 65_535 }) };
}, USAGE);
if (options !== undefined) await main(options.port);
