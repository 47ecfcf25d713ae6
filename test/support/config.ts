import type { Environment } from "../../runtime/variables.js";
import { type Config, readConfig } from "../../src/startup/config.js";

/** The configuration in this environment. Throws when a variable is wrong. */
export function configOf(environment: Environment = {}): Config {
  const result = readConfig(environment);
  if (!result.ok) throw new Error(result.problems.join("\n"));
  return result.config;
}
