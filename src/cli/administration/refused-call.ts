import { OperatorError } from "../../startup/operator-error.js";

/** What to do about a refusal. Other refusals say it themselves. */
const ADVICE: Readonly<Record<string, string>> = {
  ORGANIZATION_NOT_FOUND: "To list the organizations: kesc org list",
  API_KEY_NOT_FOUND: "To list the keys: kesc key list --org ORG",
  OPERATOR_NOT_FOUND: "To list the operators: kesc operator list",
  CLOCK_BEHIND: "If this clock is right and the newest row of the book is wrong: kesc book accept-clock ORG",
  RAIL_ACCOUNT_NOT_FOUND: "To list the accounts at rails: kesc rail list",
  RAIL_PAYMENTS_UNDER_WAY: "To see them: kesc rail status --org ORG",
  PROPOSAL_NOT_FOUND: "To list the proposals: kesc proposal list --all",
  CELL_NOT_FOUND: "To add cells on PostgreSQL: kesc migrate --cells N",
};

/** A call that was refused, or was lost. */
export class RefusedCallError extends OperatorError {
  override readonly exitCode: 1 | 2;
  /** Whether the connection was lost, and nobody knows what the server did. */
  readonly isLost: boolean;
  readonly reason: string;

  /** Without a reason the error comes from the connection. */
  constructor(message: string, { reason = "", isLost = false }: { reason?: string | undefined; isLost?: boolean }) {
    const advice = ADVICE[reason];
    super(advice === undefined ? message : `${message} ${advice}`);
    this.exitCode = reason === "INVALID_FIELD" ? 2 : 1;
    this.isLost = isLost;
    this.reason = reason;
  }
}
