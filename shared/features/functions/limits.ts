/** Limits of functions (docs/contract/limits.md#functions). workers/features/functions/sandbox/limits.ts has those of a single run. */
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
  /** Maximum depth of functions that invoke each other. */
  deepestInvoke: 3,
  /** Versions kept per function; older ones are deleted. */
  keptVersions: 50,
  secretCharacters: 4_096,
  /** Bounds the redaction of a run's output, in which each secret that the run has read is searched for. */
  secretsPerWorkspace: 100,
})
