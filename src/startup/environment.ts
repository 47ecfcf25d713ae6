import { readSecret } from "../../runtime/files/secret-file.js";
import { gatewayExposure, serverExposure } from "../../runtime/transport/exposure.js";
import { readVariables } from "../../runtime/variables.js";
import { type Config, readConfig } from "./config.js";
import { invocation } from "./invocation.js";
import { UsageError } from "./operator-error.js";

/**
 * Returns the configuration of this command. Throws a UsageError that names every invalid
 * variable.
 */
export function configFromEnvironment(): Config {
  const result = readConfig(invocation().env);
  if (!result.ok) throw new UsageError(result.problems.join("\n"));
  return result.config;
}

/**
 * Throws a UsageError if the server, or the gateway as well, would listen on an address beyond
 * the loopback, or call one, without TLS (runtime/transport/exposure.ts).
 */
export function refuseExposure(programs: "server" | "server and gateway"): void {
  const result = readVariables(invocation().env);
  if (!result.ok) return;
  const problems = [
    ...serverExposure(result.values),
    ...(programs === "server" ? [] : gatewayExposure(result.values, { isBesideServer: true })),
  ];
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
}

/**
 * Returns the secret of a variable, or of the file that the variable with `_FILE` names. "" if
 * there is none. Throws a UsageError if the file cannot be read, or if both are set.
 */
export function secretFromEnvironment(name: "KESC_API_KEY" | "KESC_OPERATOR_KEY"): string {
  const secret = readSecret(invocation().env, name);
  if (!secret.ok) throw new UsageError(secret.problem);
  return secret.value?.trim() ?? "";
}

/** Returns the API key of KESC_API_KEY, if there is one. Throws a UsageError if it is none. */
export function apiKeyFromEnvironment(): string | undefined {
  return apiKeyIn(secretFromEnvironment("KESC_API_KEY"), "KESC_API_KEY");
}

/** Returns the API key in a text, if there is one. Throws a UsageError if it is none. */
export function apiKeyIn(text: string, where: string): string | undefined {
  const key = text.trim();
  if (key === "") return undefined;
  // The message does not repeat the text. grpc-js would, in an error of its own.
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new UsageError(`${where} does not hold an API key: a key has no spaces and only ASCII characters.`);
}
