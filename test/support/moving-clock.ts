/** The environment of a process whose system clock is wrong by so many hours; several values alternate, each for this long. */
export const movingClock = (hours: readonly number[], turnMs = 1_000): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${new URL('moving-clock.mjs', import.meta.url).href}`,
  CLOCK_HOURS: hours.join(),
  CLOCK_TURN_MS: String(turnMs),
})
