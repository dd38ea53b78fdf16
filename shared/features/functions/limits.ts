/** What a function may be and use (document 2, Limits; decisions, Functions). Those of a single run stand with the sandbox. */
export const functionLimits = Object.freeze({
  nameCharacters: 120,
  descriptionCharacters: 500,
  perWorkspace: 500,
  sourceBytes: 256 * 1024,
  shortestTimeoutMs: 100,
  longestTimeoutMs: 30_000,
  defaultTimeoutMs: 5_000,
  memoryMb: 128,
  /** Runs at a time in one workspace, however many processes there are. */
  runsPerWorkspace: 4,
  /** A function may invoke one that invokes one that invokes one. */
  deepestInvoke: 3,
  /** Older sources of a function are forgotten. */
  keptVersions: 50,
  secretCharacters: 4_096,
  /** Each that a run reads is looked for in all that it gives back. */
  secretsPerWorkspace: 100,
})
