import { type Config, readConfig } from "./config.js";
import { Problem } from "./operator-error.js";

/**
 * Returns the configuration of this process. Throws a Problem that names every invalid variable.
 */
export function configFromEnvironment(): Config {
  const result = readConfig(process.env);
  if (!result.ok) throw new Problem(result.problems.join("\n"), 2);
  return result.config;
}
