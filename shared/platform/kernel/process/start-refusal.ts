/** An error by which a process refuses to start, with a sentence for the operator. */
interface StartRefusal extends Error {
  readonly code: 'START_REFUSED'
}

/** The settings of a process do not fit its installation or its machine: a restart changes nothing. */
export const startRefusal = (message: string): StartRefusal => Object.assign(new Error(message), { code: 'START_REFUSED' as const })

export const isStartRefusal = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && error.code === 'START_REFUSED'
