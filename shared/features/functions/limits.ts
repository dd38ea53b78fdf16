/** Limits of functions (document 2, Limits; decisions, Functions). The sandbox has the limits of a single run. */
export const functionLimits = Object.freeze({
  nameCharacters: 120,
  descriptionCharacters: 500,
  perWorkspace: 500,
  sourceBytes: 256 * 1024,
  shortestTimeoutMs: 100,
  longestTimeoutMs: 30_000,
  defaultTimeoutMs: 5_000,
  memoryMb: 128,
  /** Concurrent runs per workspace, over all processes. */
  runsPerWorkspace: 4,
  /** Maximum call depth of functions.invoke. */
  deepestInvoke: 3,
  /** Versions kept per function; older ones are deleted. */
  keptVersions: 50,
  secretCharacters: 4_096,
  /** Bounds redaction: each secret that a run reads is searched in its whole output. */
  secretsPerWorkspace: 100,
})
