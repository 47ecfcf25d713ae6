import type { Attack } from "./attack.js";
import { ATTACKS } from "./attacks.js";
import { callAsOperator, CHEAPEST, type OperatorAttackName, operatorAttacks } from "./operator-calls.js";

export type AttackName = keyof typeof ATTACKS | OperatorAttackName;

/** A row of docs/fairness.md. */
export interface Row {
  attack: AttackName;
  /** How the others call the service. */
  others: "grpc" | "rest";
  /** Whether the hostile organization needs a million transactions. */
  filled: boolean;
  /** Whether the hostile organization needs payments at a rail. */
  rail: boolean;
  /** The attack beside which the others are measured first. Absent: they are in peace. */
  yardstick?: AttackName;
}

const grpc = (attack: AttackName): Row => ({ attack, others: "grpc", filled: false, rail: false });
const rail = (attack: AttackName): Row => ({ ...grpc(attack), rail: true });
const filled = (attack: AttackName): Row => ({ ...grpc(attack), filled: true });
const rest = (attack: AttackName): Row => ({ ...grpc(attack), others: "rest" });

const ROWS: readonly Row[] = [
  filled("lists"),
  filled("pages"),
  filled("verify"),
  filled("exports"),
  grpc("accounts"),
  grpc("poison"),
  grpc("reads"),
  grpc("mints"),
  grpc("events-and-mints"),
  grpc("hot-account"),
  rail("rail-mints"),
  rail("payments"),
  rail("callbacks"),
  rail("forged-callbacks"),
  rail("confirmations"),
  rail("validations"),
  grpc("batches"),
  grpc("invalid"),
  grpc("keys"),
  grpc("random-keys"),
  grpc("no-key"),
  grpc("checks"),
  grpc("watches"),
  grpc("webhook-changes"),
  grpc("reflection"),
  grpc("slow-requests"),
  grpc("unfinished-requests"),
  grpc("rapid-reset"),
  grpc("idle-connections"),
  rest("rest-no-route"),
  rest("rest-readyz"),
  rest("rest-random-keys"),
  rest("rest-deep-json"),
  { ...rest("rest-streams"), filled: true },
  // Each rpc of operators by itself, beside what as many callers of the cheapest rpc leave.
  ...Object.entries(operatorAttacks()).map(([attack, { callers }]): Row => ({
    ...grpc(attack as OperatorAttackName),
    yardstick: `${CHEAPEST}*${String(callers)}`,
  })),
];

export function attackNamed(name: AttackName): (attack: Attack) => void {
  if (name in ATTACKS) return ATTACKS[name as keyof typeof ATTACKS];
  const [own = "", callers] = name.split("*");
  const calls = operatorAttacks()[own as OperatorAttackName];
  if (calls === undefined) throw new Error(`there is no attack ${name}`);
  return (attack) => {
    callAsOperator(attack, { ...calls, callers: Number(callers ?? calls.callers) });
  };
}

/** The rows with these names or of these groups ("operators"), by commas; all without a name. */
export function rowsNamed(names: string): readonly Row[] {
  if (names === "") return ROWS;
  return names.split(",").flatMap((name) => {
    const rows = ROWS.filter(({ attack }) => attack === name || attack.startsWith(`${name}/`));
    if (rows.length === 0) throw new Error(`there is no row "${name}": ${ROWS.map(({ attack }) => attack).join(", ")}`);
    return rows;
  });
}
