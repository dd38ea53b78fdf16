import { problem } from '#shared/kernel/errors.ts'

/** The work of a block whose room is not part of this version: it can be saved, and a run that comes to it ends with this. */
export const notAvailable = {
  acts: (): Promise<never> => Promise.reject(problem('NOT_FOUND', 'This block is not available in this version')),
}
