import { type Config, readConfig } from "./config.js";
import { Problem } from "./operator-error.js";

/** The configuration of this process. Throws a Problem that names every variable that is wrong. */
export function configFromEnvironment(): Config {
  const result = readConfig(process.env);
  if (!result.ok) throw new Problem(result.problems.join("\n"), 2);
  return result.config;
}
