/** The owner of each phone. */
export const PHONE_OWNER = ["JANE", "SIMULATED", "DOE"] as const;
/** The business behind a number: its number follows. */
export const BUSINESS_NAME = "Simulated Business";
