/**
 * How long the caller will wait for a worker's answer, by its Prefer header (RFC 7240): `respond-async`, `wait=n`, or as long as any call
 * waits (decisions, Long work).
 */
export function readPreferredWait(prefer: string, longestMs: number): { readonly ms: number; readonly applied: string | undefined } {
  const preferences = prefer.split(',').map((preference) => preference.split(';')[0]?.trim().toLowerCase())
  if (preferences.includes('respond-async')) return { ms: 0, applied: 'respond-async' }
  const wait = preferences.map((preference) => /^wait="?(\d{1,6})"?$/.exec(preference ?? '')?.[1]).find((seconds) => seconds !== undefined)
  if (wait === undefined) return { ms: longestMs, applied: undefined }
  return { ms: Math.min(longestMs, Number(wait) * 1000), applied: `wait=${wait}` }
}
