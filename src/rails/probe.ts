/** A question that moves nothing. It shows whether one product of an account works. */
export interface RailProbe {
  /** Such as "token". */
  readonly product: string;
  /** The others are not asked unless it works. */
  readonly isFirst?: true;
  /** It is asked once, and never with a credential that the rail has refused. */
  readonly usesInitiator?: true;
  /** The rail answers to the address that names `question`, as `askBalance` says. */
  readonly answersLater?: true;
  ask(signal: AbortSignal, question: string): Promise<ProbeAnswer>;
  /** Says what to change if the rail has refused the initiator with this code. */
  adviceOn?(code: string): string;
}

/** What the answer to a probe shows. Its texts hold no secret and no personal data. */
export interface ProbeAnswer {
  /** `lacking`: the account has not this product. `wrong`: a person must change something. */
  readonly result: "works" | "lacking" | "wrong" | "unanswered" | "not asked";
  /** Of the rail, or of the network. */
  readonly code?: string | undefined;
  /** The path at the rail. */
  readonly place: string;
  /** What to change or to do, in sentences. */
  readonly advice?: string | undefined;
}
