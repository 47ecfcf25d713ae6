/** The leases of one cell. The clock is that of the database. */
export interface LeaseStore {
  /**
   * Takes the lease, or renews it for the same holder. Resolves with false while another holder has
   * it.
   *
   * Does not wait for the end of a lease whose holder is known to have ended, nor of one that ends
   * later than twice the term from now: the clock of its holder was wrong.
   */
  take(name: string, given: { readonly holder: string; readonly millis: number }): Promise<boolean>;
  /** Gives the lease back, if this holder has it. */
  release(name: string, holder: string): Promise<void>;
}

/** A lease that was taken before its end. */
export interface EarlyLease {
  readonly name: string;
  readonly leftMillis: number;
  readonly because: "its server has ended" | "it was taken by a wrong clock";
}
