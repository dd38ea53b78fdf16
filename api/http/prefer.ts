/** The longest that a call waits for a worker before it answers 202 (decisions, Long work), in milliseconds. */
const longestWaitMs = 60_000

/** How long the caller will wait for a worker's answer, by its Prefer header (RFC 7240): `respond-async`, `wait=n`, or 60 s. */
export function patienceMs(prefer: string): { readonly ms: number; readonly applied: string | undefined } {
  const preferences = prefer.split(',').map((preference) => preference.split(';')[0]?.trim().toLowerCase())
  if (preferences.includes('respond-async')) return { ms: 0, applied: 'respond-async' }
  const wait = preferences.map((preference) => /^wait="?(\d{1,6})"?$/.exec(preference ?? '')?.[1]).find((seconds) => seconds !== undefined)
  if (wait === undefined) return { ms: longestWaitMs, applied: undefined }
  return { ms: Math.min(longestWaitMs, Number(wait) * 1000), applied: `wait=${wait}` }
}
