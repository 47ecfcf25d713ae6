/** The simulator's certificate as a file. A test compares it with the simulator's own. */
export const CERTIFICATE_FILE = "examples/mpesa/simulator-certificate.pem";

/** A Monday in January 2026, at 9 in Nairobi: where the clocks of tests stand. */
export const MONDAY_MILLIS = Date.UTC(2026, 0, 5, 6);
