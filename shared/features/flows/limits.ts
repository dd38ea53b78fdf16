/** Limits of flows and their runs (docs/contract/limits.md#flows). */
export const flowLimits = Object.freeze({
  nameCharacters: 120,
  descriptionCharacters: 500,
  perWorkspace: 500,
  /** Bytes of a definition as JSON. */
  definitionBytes: 256 * 1024,
  nodes: 200,
  edges: 1_000,
  contextVariables: 200,
  /** Names of types of a `trigger.event`. */
  eventTypes: 100,
  itemsPerLoop: 1_000,
  stepsPerRun: 5_000,
  /** An output larger than this, as JSON, fails its step. */
  outputBytes: 1_048_576,
  /** Bytes of an output, as JSON, that the views of a run show. */
  shownBytes: 65_536,
  longestWaitMinutes: 30 * 24 * 60,
  /** Compute budget of one step of a run; a budget step takes about a microsecond. */
  computeSteps: 1_000_000,
  callTimeoutMs: 10_000,
  callBytes: 1_048_576,
  /** Days that the whole outputs of a failed run are kept, and that it can be retried. */
  retryDays: 7,
  keptDays: 30,
  keptVersions: 50,
  promptCharacters: 4_000,
  draftTimeoutMs: 60_000,
})

/** Limits of a rehearsal (docs/contract/flows.md#rehearsal). */
export const rehearsalLimits = Object.freeze({
  runs: 20,
  stepsPerRun: 200,
  msPerRun: 3_000,
  lockMs: 100,
  /** Compute budget of all runs of one rehearsal together, in budget steps. */
  computeSteps: 1_000_000,
})
