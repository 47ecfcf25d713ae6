import { statSync } from "node:fs";

import { checkNamed, type DoctorFinding } from "./finding.js";

const OTHERS = 0o077;
const PERMISSIONS = 0o777;

/** Warns if other users of this machine can read a file with a secret. Silent if it is missing. */
export function checkMode(check: string, file: string): readonly DoctorFinding[] {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || (mode & OTHERS) === 0) return [];
  return [
    checkNamed(check).warn(
      `${file} has the mode 0${(mode & PERMISSIONS).toString(8)}: other users of this machine can read it.`,
      `Run: chmod 600 ${file}`,
    ),
  ];
}
