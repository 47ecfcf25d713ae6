/** `fail`: the service does not start, or is in danger. `warn`: somebody should look at it. */
export type State = "ok" | "warn" | "fail";

/** The result of one check, as one line. It holds no secret. */
export interface DoctorFinding {
  /** Names the check, such as "database". */
  readonly check: string;
  readonly state: State;
  /** One or more sentences: what was found, and what it means. */
  readonly meaning: string;
  /** One or more sentences: what to do. Undefined if all is well. */
  readonly remedy?: string | undefined;
}

/** What a check returns: one finding, several, or none. */
export type CheckResult = DoctorFinding | readonly DoctorFinding[];

/** Makes the findings of one check. */
export interface Check {
  readonly ok: (meaning: string) => DoctorFinding;
  readonly warn: (meaning: string, remedy: string) => DoctorFinding;
  readonly fail: (meaning: string, remedy: string) => DoctorFinding;
}

export function checkNamed(check: string): Check {
  return {
    ok: (meaning) => ({ check, state: "ok", meaning }),
    warn: (meaning, remedy) => ({ check, state: "warn", meaning, remedy }),
    fail: (meaning, remedy) => ({ check, state: "fail", meaning, remedy }),
  };
}

/** Returns whole hours in words. */
export function hoursOf(millis: number): string {
  const hours = Math.floor(millis / 3_600_000);
  return hours === 1 ? "1 hour" : `${String(hours)} hours`;
}
