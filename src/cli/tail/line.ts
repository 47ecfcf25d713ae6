/** An event as the command writes it. Amounts are texts. */
export interface EventJson {
  readonly sequence: number;
  readonly occurred_at: string;
  readonly type: string;
  readonly transaction: {
    readonly id: string;
    readonly type: string;
    readonly status: string;
    readonly amount: string;
  } | null;
  readonly account: { readonly id: string; readonly status: string } | null;
  readonly available_balance: string;
}

/** Returns the line of an event for people. */
export function eventLine({ sequence, occurred_at: at, type, ...event }: EventJson): string {
  const words = [String(sequence), at, type];
  const { transaction, account } = event;
  if (transaction !== null) {
    const { id, amount, status } = transaction;
    words.push(id, `${transaction.type.toUpperCase()} ${amount} ${status.toUpperCase()}`);
  }
  if (account !== null) words.push(account.id, account.status.toUpperCase());
  if (transaction !== null || account !== null) words.push(`balance ${event.available_balance}`);
  return words.join("  ");
}
