import type { Readable } from 'node:stream'
import type { ByteRange, ByteStore, WrittenBytes } from '#shared/platform/blobs/byte-store.ts'
import { deleteBlobs, doomBlob, doomIdleBlobs, insertBlob, touchBlob } from '#shared/platform/blobs/store.ts'
import { findStoreIdentity } from '#shared/platform/blobs/store-identity.ts'
import type { Database } from '#shared/platform/db/database.ts'
import { isDatabaseUnavailable } from '#shared/platform/db/database-errors.ts'
import { type Problem, problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'

/** Bytes in the store. The sweep keeps them while a committed row in a table with the trigger `hold_blob` has this `blob_id`. */
interface Blob extends WrittenBytes {
  readonly id: string
}

/** Blobs that the sweep deletes per batch. */
const sweepBatch = 200

/** Milliseconds that a check of the store waits: whoever asks `/readyz` does not wait long. */
const checkWithinMs = 2_000

/** Interval of the sweep in seconds, short enough that bytes are deleted before `DRIVE_SWEEP_SECONDS` have passed. */
export const sweepIntervalSeconds = 5

/**
 * Access to the bytes of files in the store, a disk or S3. A blob never changes. Rows of domains hold blobs; the sweep deletes blobs that
 * no row holds within `DRIVE_SWEEP_SECONDS` after the last row released them.
 */
export class Blobs {
  readonly #database: Database
  readonly #store: ByteStore
  /**
   * Seconds for which a blob is kept while no row holds it, since it may still be written, or still be read after its row has released it.
   */
  readonly #graceSeconds: number
  #storeId: Promise<string> | undefined

  constructor(database: Database, store: ByteStore, sweepSeconds: number) {
    this.#database = database
    this.#store = store
    this.#graceSeconds = Math.max(sweepSeconds / 2, sweepSeconds - 10 * sweepIntervalSeconds)
  }

  /**
   * Writes a stream as a new blob that no row holds yet. When the stream fails, nothing is kept and its error is rethrown. Throws UNAVAILABLE
   * when the disk of the store or of its spool is full, and INTERNAL, with a message for the caller, when the store is unreachable.
   */
  async put(workspaceId: string, bytes: AsyncIterable<Uint8Array>): Promise<Blob> {
    const id = await this.#insertBlob(workspaceId)
    const touch = () => this.#database.query(touchBlob({ workspaceId, id })).catch(() => undefined)
    const timer = setInterval(touch, (this.#graceSeconds * 1000) / 3).unref()
    let streamFailure: { readonly error: unknown } | undefined
    const watched = async function* () {
      try {
        yield* bytes
      } catch (error) {
        streamFailure = { error }
        throw error
      }
    }
    try {
      return { id, ...(await this.#store.write(id, watched())) }
    } catch (error) {
      await this.discard(workspaceId, id).catch(() => undefined)
      throw streamFailure ? streamFailure.error : storeProblem(error)
    } finally {
      clearInterval(timer)
    }
  }

  /** Opens a blob or a range of it for reading; an open blob stays readable to its end. Throws INTERNAL when the bytes are unavailable. */
  async read(id: string, range?: ByteRange): Promise<Readable> {
    await this.#requireIdentity()
    try {
      return await this.#store.read(id, range)
    } catch (error) {
      throw storeProblem(error)
    }
  }

  /** Deletes a blob at once if no row holds it, for bytes that were written and are not needed. */
  async discard(workspaceId: string, id: string): Promise<void> {
    const [doomed] = await this.#database.query(doomBlob({ workspaceId, id }))
    if (!doomed) return
    await this.#store.remove([id])
    await this.#database.query(deleteBlobs({ workspaceIds: [workspaceId], ids: [id] }))
  }

  /** Discards a blob after an error, unless the database became unreachable: a row that holds the blob may have been committed. */
  async discardAfter(error: unknown, workspaceId: string, id: string): Promise<void> {
    if (!isDatabaseUnavailable(error)) await this.discard(workspaceId, id).catch(() => undefined)
  }

  /**
   * Deletes blobs that no row has held for the grace period, in all workspaces, and returns their number. Stops between batches on abort.
   */
  async sweep(signal: AbortSignal, graceSeconds = this.#graceSeconds): Promise<number> {
    if ((await this.check()) !== undefined) return 0
    for (let count = 0; ; ) {
      if (signal.aborted) return count
      const doomed = await this.#database.query(doomIdleBlobs({ graceSeconds, limit: sweepBatch }))
      const ids = doomed.map(({ id }) => id)
      await this.#store.remove(ids)
      if (ids.length > 0) await this.#database.query(deleteBlobs({ workspaceIds: doomed.map(({ workspace_id }) => workspace_id), ids }))
      count += ids.length
      if (ids.length < sweepBatch) return count
    }
  }

  /**
   * Why this process cannot serve files, as a message for the operator: the store is another installation's (`foreign`), or gives no answer
   * within 2 s (`away`). Undefined when it can.
   */
  async check(): Promise<{ readonly foreign: string } | { readonly away: string } | undefined> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new Error('no answer')), checkWithinMs)
    try {
      const identity = await Promise.race([findStoreIdentity(this.#database, this.#store), late.promise])
      return 'fault' in identity ? { foreign: identity.fault } : undefined
    } catch (error) {
      return { away: `The file store is out of reach: ${(error as Error).message || (error as { code?: string }).code}` }
    } finally {
      clearTimeout(timer)
    }
  }

  close(): void {
    this.#store.close()
  }

  /** Inserts the row of a new blob and returns its id. */
  async #insertBlob(workspaceId: string): Promise<string> {
    const id = newId()
    const [inserted] = await this.#database.query(insertBlob({ workspaceId, id, storeId: await this.#requireIdentity() }))
    if (inserted) return id
    // The installation's store was replaced.
    this.#storeId = undefined
    await this.#requireIdentity()
    throw storeProblem(new Error('The file store was replaced'))
  }

  /** The store's id, read once and kept. Throws INTERNAL when the store is not the installation's. */
  #requireIdentity(): Promise<string> {
    if (this.#storeId) return this.#storeId
    const reading = this.#readIdentity()
    this.#storeId = reading
    reading.catch(() => {
      this.#storeId = undefined
    })
    return reading
  }

  async #readIdentity(): Promise<string> {
    const identity = await findStoreIdentity(this.#database, this.#store).catch((error: unknown) => {
      throw storeProblem(error)
    })
    if ('fault' in identity) throw storeProblem(new Error(identity.fault))
    return identity.id
  }
}

/** Translates an error of the store for callers: UNAVAILABLE where the disk is full, INTERNAL otherwise. */
function storeProblem(error: unknown): Problem {
  const isFull = ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')
  if (isFull) return problem('UNAVAILABLE', 'The server has no room left for the file, and keeps nothing of it', { cause: error })
  return problem('INTERNAL', 'The file store is out of reach; try again', { cause: error })
}
