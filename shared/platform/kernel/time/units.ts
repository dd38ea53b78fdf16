/** Milliseconds. A day has 24 hours, as in UTC; a local day may have 23 or 25. */
export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs
