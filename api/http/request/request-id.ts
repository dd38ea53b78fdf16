import { newId } from '#shared/platform/kernel/ids.ts'

const acceptable = /^[A-Za-z0-9._-]{1,64}$/

/** The client's own request id when it is well formed, else a new one (docs/contract/conventions.md#request-ids). */
export const requestIdOf = (header: string | undefined): string => (header !== undefined && acceptable.test(header) ? header : newId())
