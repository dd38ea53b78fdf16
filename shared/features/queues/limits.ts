/** Limits of work queues (docs/contract/limits.md#work-queues), and further limits that bound the size of a request or row. */
export const queueLimits = Object.freeze({
  queues: 200,
  stages: 40,
  itemsPerAdd: 500,
  scansPerBatch: 500,
  payloadBytes: 16_384,
  claimed: 50,
  actionItems: 25,
  buttonsPerStage: 20,
  keyCharacters: 300,
  nameCharacters: 120,
  noteCharacters: 2_000,
  leaseSeconds: 300,
  maxLeaseSeconds: 604_800,
})
