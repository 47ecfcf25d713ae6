/** An event as the command writes it. Amounts are texts. */
export interface EventJson {
  readonly sequence: number;
  readonly recorded_at: string;
  readonly type: string;
  readonly transaction: {
    readonly id: string;
    readonly type: string;
    readonly status: string;
    readonly amount: string;
  } | null;
  readonly account: { readonly id: string; readonly status: string } | null;
  readonly deposit: { readonly id: string; readonly status: string; readonly amount: string } | null;
  readonly destination: { readonly id: string; readonly kind: string; readonly masked_number: string } | null;
  readonly api_key_id: string | null;
  readonly webhook_endpoint_id: string | null;
  readonly rail_warning: { readonly rail: string; readonly code: string } | null;
  readonly available_balance: string | null;
  readonly row: Readonly<
    Record<"debit_account" | "credit_account" | "amount" | "stated_amount" | "place" | "direction", string | null>
  > | null;
}

/** Returns the line of an event for people. */
export function eventLine({ sequence, recorded_at: at, type, ...event }: EventJson): string {
  const words = [String(sequence), at, type];
  const { transaction, account, deposit, destination, available_balance: balance } = event;
  if (transaction !== null) {
    const { id, amount, status } = transaction;
    words.push(id, `${transaction.type.toUpperCase()} ${amount} ${status.toUpperCase()}`);
  }
  if (account !== null) words.push(account.id, account.status.toUpperCase());
  if (deposit !== null) words.push(deposit.id, `${deposit.amount} ${deposit.status.toUpperCase()}`);
  if (destination !== null) {
    words.push(destination.id, `${destination.kind.toUpperCase()} ${destination.masked_number}`);
  }
  const id = event.api_key_id ?? event.webhook_endpoint_id;
  if (id !== null) words.push(id);
  if (event.rail_warning !== null) words.push(event.rail_warning.rail, event.rail_warning.code);
  if (event.row !== null) words.push(...rowWords(event.row));
  if (balance !== null) words.push(`balance ${balance}`);
  return words.join("  ");
}

function rowWords({
  debit_account,
  credit_account,
  amount,
  ...said
}: NonNullable<EventJson["row"]>): readonly string[] {
  const posting = amount === null ? [] : [`${String(debit_account)} to ${String(credit_account)} ${amount}`];
  const stated = [said.place, said.stated_amount, said.direction].filter((word) => word !== null).join(" ");
  return [...posting, ...(stated === "" ? [] : [stated])];
}
