import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import type { Daraja } from "../../../daraja/simulator.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { CERTIFICATE_FILE } from "../../daraja/given.js";
import { kesc, type Place, type Variables } from "../../support/service/kesc.js";

const YEAR_MILLIS = 31_536_000_000;

/** Writes a secret for callbacks. Nothing listens at the address: each callback is lost. */
export function withLostCallbacks({ folder, variables }: Place): Variables {
  const secretFile = join(folder, "callback.secret");
  writeFileSync(secretFile, "0123456789abcdef".repeat(4));
  return {
    ...variables,
    KESC_CALLBACK_BASE_URL: "http://127.0.0.1:9",
    KESC_CALLBACK_SECRET_FILE: secretFile,
    KESC_RAIL_HOSTS: "127.0.0.1",
  };
}

/** Sets the account of an organization at the simulator, as an operator would. */
export async function setDarajaAccount(
  { url, organization }: Daraja,
  { folder }: Place,
  {
    organizationId,
    variables,
    more = [],
  }: {
    readonly organizationId: OrganizationId;
    readonly variables: Variables;
    /** More options of `kesc rail set`. */
    readonly more?: readonly string[];
  },
): Promise<void> {
  const { shortcode, consumerKey, consumerSecret, passkey, initiatorName, initiatorPassword } = organization;
  const [settings, credentials] = [join(folder, "settings.json"), join(folder, "credentials.json")];
  const shortcodes = { collectShortcode: shortcode, payOutShortcode: shortcode };
  writeFileSync(
    settings,
    JSON.stringify({ baseUrl: url, ...shortcodes, initiatorName, certificateFile: resolve(CERTIFICATE_FILE) }),
  );
  const secrets = { consumerKey, consumerSecret, passkey, initiatorPassword };
  writeFileSync(credentials, JSON.stringify(secrets), { mode: 0o600 });
  const expiry = new Date(Date.now() + YEAR_MILLIS).toISOString().slice(0, 10);
  const files = ["--settings", settings, "--credentials", credentials, "--credentials-expire", expiry];
  const { code, stderr } = await kesc(
    ["rail", "set", "mpesa", "--org", organizationId, ...files, ...more, "--note", "test"],
    variables,
  );
  if (code !== 0) throw new Error(stderr);
}
