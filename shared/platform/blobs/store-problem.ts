import type { ByteStore } from '#shared/platform/blobs/byte-store.ts'
import { type Problem, problem, type UnavailablePart } from '#shared/platform/kernel/errors.ts'

/** The fields of an error of the file system or of the S3 client that are read here. */
interface StoreError {
  readonly code?: string
  readonly name?: string
  readonly $metadata?: { readonly httpStatusCode?: number }
}

/** Codes of a disk or a spool without room. */
const fullCodes = new Set(['ENOSPC', 'EDQUOT'])
/** Codes of S3 and of the file system for bytes that are not there. */
const missingCodes = new Set(['NoSuchKey', 'ENOENT'])
/** Replies of S3 that are not about one call: other credentials, another bucket, a load that passes. */
const passingStatuses = new Set([401, 403, 404, 408, 429])

/**
 * Translates a failure of the store: UNAVAILABLE where the store as a whole is away, refuses this process or is full, so that callers are
 * answered with 503 and jobs wait for the part; INTERNAL where only these bytes are missing, or only this call is refused.
 */
export async function storeProblem(error: unknown, store: Pick<ByteStore, 'identity'>, part: UnavailablePart): Promise<Problem> {
  const { code = '', name = '', $metadata } = (error ?? {}) as StoreError
  // A full store can still be read, so its outage is not logged by the part.
  if (fullCodes.has(code))
    return problem('UNAVAILABLE', 'The file store has no room left; nothing of the file is kept', { cause: error, part })
  const status = $metadata?.httpStatusCode ?? 0
  const isMissing = missingCodes.has(code) || missingCodes.has(name)
  const isRefused = status >= 400 && status < 500 && !passingStatuses.has(status)
  // A folder that is not mounted, or an emptied bucket, has no id either.
  const isPresent = isMissing && (await store.identity().catch(() => undefined)) !== undefined
  if (isRefused || isPresent) return problem('INTERNAL', 'The file store cannot serve these bytes', { cause: error })
  return problem('UNAVAILABLE', 'The file store cannot be reached; try again soon', { cause: error, part, expected: true })
}
