import { gatewayExposure, serverExposure } from "../../../runtime/transport/exposure.js";
import { readVariables } from "../../../runtime/variables.js";
import { type Config, readConfig } from "../../startup/config.js";
import { checkNamed, type DoctorFinding } from "./finding.js";

const { fail, ok } = checkNamed("configuration");
const REMEDY = "Correct it in the environment of both programs; docs/configuration.md lists all variables.";

/** Returns the configuration, if it can be read, and one finding for each wrong variable. */
export function checkConfiguration(environment: Readonly<Record<string, string | undefined>>): {
  readonly config: Config | undefined;
  readonly findings: readonly DoctorFinding[];
} {
  const result = readConfig(environment);
  if (!result.ok) {
    return { config: undefined, findings: result.problems.map((problem) => fail(problem, REMEDY)) };
  }
  const values = readVariables(environment);
  const exposures = values.ok ? [...serverExposure(values.values), ...gatewayExposure(values.values)] : [];
  const findings = [...new Set(exposures)].map((problem) =>
    fail(problem, "Without it the programs do not start (docs/security.md)."),
  );
  return {
    config: result.config,
    findings: findings.length > 0 ? findings : [ok("All variables can be read.")],
  };
}
