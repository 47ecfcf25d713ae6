import type { Command } from "commander";

import type { Daraja } from "../../daraja/simulator.js";
import { shutdownSignal } from "../../runtime/shutdown.js";
import { OperatorError } from "../startup/operator-error.js";
import { durationMillis, wholeNumber } from "./commands/arguments.js";
import { printLine } from "./commands/output.js";

const PORT = 8090;
const PORT_MAX = 65_535;

interface DarajaOptions {
  readonly host: string;
  readonly port: number;
  readonly standingClock?: true;
  readonly seed?: string;
  readonly answerDelay?: number;
  readonly idMemory?: number;
  readonly setting: Readonly<Record<string, unknown>>;
}

/** `kesc daraja`: serves a simulator of M-Pesa's API until the shutdown signal. */
export function addDaraja(program: Command): void {
  program
    .command("daraja")
    .description("simulate Daraja, the API of M-Pesa, with pretended shillings; needs no database")
    .option("--host <host>", "address to listen at", "127.0.0.1")
    .option("--port <port>", "port, 0 for any", wholeNumber({ min: 0, max: PORT_MAX }), PORT)
    .option("--standing-clock", "the time stands still: a test moves it (POST /simulator/clock)")
    .option("--seed <text>", "the same ids and receipts at each start")
    .option("--answer-delay <duration>", "each request is accepted at once, and answered so much later", durationMillis)
    .option(
      "--id-memory <duration>",
      "forget an OriginatorConversationID after this time (default: never)",
      durationMillis,
    )
    .option(
      "--setting <name=value>",
      "a setting of docs/daraja.md, such as http_callbacks=private; may come several times",
      withSetting,
      {},
    )
    .action(serveDaraja);
}

/** Reads true, false, null and whole numbers as such; other values are texts. */
function withSetting(text: string, settings: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const [name = "", ...rest] = text.split("=");
  const value = rest.join("=");
  return { ...settings, [name]: /^(null|true|false|\d+)$/.test(value) ? (JSON.parse(value) as unknown) : value };
}

async function serveDaraja({
  host,
  port,
  standingClock,
  seed,
  answerDelay,
  idMemory,
  setting,
}: DarajaOptions): Promise<void> {
  const [{ startDaraja }, { SimulatorClock }, { scenarioRows }, { newOrganization }, { changeSettings }] =
    await Promise.all([
      import("../../daraja/simulator.js"),
      import("../../daraja/clock.js"),
      import("../../daraja/page.js"),
      import("../../daraja/mpesa/organization.js"),
      import("../../daraja/api/settings.js"),
    ]);
  const organization = newOrganization();
  const problem = changeSettings(organization, setting);
  if (problem !== undefined) throw new OperatorError(`--setting: ${problem}`);
  const stopping = shutdownSignal();
  const daraja = await startDaraja({
    host,
    port,
    organizations: [organization],
    clock: new SimulatorClock(standingClock === true ? { standsAtMillis: Date.now() } : {}),
    ...(seed === undefined ? {} : { seed }),
    ...(answerDelay === undefined ? {} : { answerDelayMillis: answerDelay }),
    ...(idMemory === undefined ? {} : { idMemoryMillis: idMemory }),
  }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`The simulator cannot start: ${reason}. Name another address: --host, --port`);
  });
  for (const line of linesOn(daraja, scenarioRows())) printLine(line);
  await stopping;
  await daraja.close();
}

function linesOn(
  { url, organization }: Daraja,
  scenarios: readonly (readonly [ending: string, collect: string, payOut: string, byHand: string])[],
): string[] {
  const settings = {
    URL: `${url} (open it in a browser to see what it holds)`,
    "consumer key": organization.consumerKey,
    "consumer secret": organization.consumerSecret,
    shortcode: organization.shortcode,
    passkey: organization.passkey,
    "initiator name": organization.initiatorName,
    "initiator password": organization.initiatorPassword,
    certificate: `curl -o simulator-certificate.pem ${url}/simulator/certificate`,
  };
  return [
    "The Daraja simulator runs until you stop it (Ctrl-C). It forgets everything then.",
    "",
    ...Object.entries(settings).map(([name, value]) => `${name.padEnd(20)}${value}`),
    "",
    "A customer's phone number is 2547 or 2541 and eight digits. Its last two choose what happens:",
    "",
    `      ${"STK push".padEnd(56)}B2C`,
    ...scenarios.map(([ending, collect, payOut]) => `  ${ending}  ${collect.padEnd(56)}${payOut}`),
    "",
    "A payment without a prompt (POST /simulator/payments, or the form at /pay):",
    "",
    // A third column would not fit into a terminal.
    ...scenarios
      .filter(([, , , byHand]) => byHand !== "success")
      .map(([ending, , , byHand]) => `  ${ending}  ${byHand}`),
    "",
    "Other endings are a success.",
  ];
}
