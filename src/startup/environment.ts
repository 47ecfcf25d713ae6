import { WRONG_VARIABLE_EXIT_CODE } from "../../runtime/variables.js";
import { type Config, readConfig } from "./config.js";
import { OperatorError } from "./operator-error.js";

/**
 * Returns the configuration of this process. Throws an OperatorError that names every invalid
 * variable.
 */
export function configFromEnvironment(): Config {
  const result = readConfig(process.env);
  if (!result.ok) throw new OperatorError(result.problems.join("\n"), WRONG_VARIABLE_EXIT_CODE);
  return result.config;
}
