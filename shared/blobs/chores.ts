import { type Blobs, sweepTurnSeconds } from '#shared/blobs/blobs.ts'
import type { Chore } from '#shared/kernel/chore.ts'

/** Deletes bytes that nothing names. Its statements say which process takes which, since no transaction lasts as long as a store may take. */
export const blobChores: readonly Chore<{ readonly blobs: Blobs }>[] = [
  { name: 'bytes that nothing names', everySeconds: sweepTurnSeconds, run: async ({ blobs }, signal) => void (await blobs.sweep(signal)) },
]
