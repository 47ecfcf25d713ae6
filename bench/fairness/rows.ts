import type { AttackName } from "./attacks.js";

/** A row of docs/fairness.md. */
export interface Row {
  attack: AttackName;
  /** How the others call the service. */
  others: "grpc" | "rest";
  /** Whether the hostile organization needs a million transactions. */
  filled: boolean;
  /** Whether the hostile organization needs payments at a rail. */
  rail: boolean;
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
];

/** The rows with these names, separated by commas; all without a name. */
export function rowsNamed(names: string): readonly Row[] {
  if (names === "") return ROWS;
  return names.split(",").map((name) => {
    const row = ROWS.find(({ attack }) => attack === name);
    if (row === undefined) throw new Error(`there is no row "${name}": ${ROWS.map(({ attack }) => attack).join(", ")}`);
    return row;
  });
}
