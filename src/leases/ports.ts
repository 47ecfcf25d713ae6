/** The leases of one cell. The clock is that of the database. */
export interface LeaseStore {
  /**
   * Takes the lease, or renews it for the same holder. Resolves with false while another holder has
   * it.
   */
  take(name: string, given: { readonly holder: string; readonly millis: number }): Promise<boolean>;
  /** Gives the lease back, if this holder has it. */
  release(name: string, holder: string): Promise<void>;
}
