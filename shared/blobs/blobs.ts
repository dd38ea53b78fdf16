import type { Readable } from 'node:stream'
import type { ByteRange, ByteStore, Written } from '#shared/blobs/byte-store.ts'
import { findPlace } from '#shared/blobs/identity.ts'
import { deleteBlobs, doomBlob, doomIdleBlobs, insertBlob, touchBlob } from '#shared/blobs/statements.ts'
import { isOutOfReach } from '#shared/db/conflicts.ts'
import type { Database } from '#shared/db/database.ts'
import { type Problem, problem } from '#shared/kernel/errors.ts'
import { newId } from '#shared/kernel/ids.ts'

/** Bytes in the store. They are kept once a row with this `blob_id` is committed in a table that has the trigger `hold_blob`. */
export interface Blob extends Written {
  readonly id: string
}

/** Blobs that the sweep deletes in one go. */
const sweepBatch = 200

/** The most of a sweep's time that passes between two of its turns: the bytes that it is there for have to be gone by then. */
export const sweepTurnSeconds = 5

/**
 * The process's way to the bytes of files, wherever they lie. A blob never changes; a row of a domain holds it, and what no row holds any
 * more is deleted by the sweep, early enough to be gone `DRIVE_SWEEP_SECONDS` after it was let go of.
 */
export class Blobs {
  readonly #database: Database
  readonly #store: ByteStore
  /** How long bytes are kept that nothing holds: what is being written, what has been let go of and is still being read. */
  readonly #graceSeconds: number
  #storeId: Promise<string> | undefined

  constructor(database: Database, store: ByteStore, sweepSeconds: number) {
    this.#database = database
    this.#store = store
    this.#graceSeconds = Math.max(sweepSeconds / 2, sweepSeconds - 10 * sweepTurnSeconds)
  }

  /**
   * Writes a stream as a new blob, which nothing holds yet. When the stream fails, nothing of it is kept and its failure is thrown on;
   * INTERNAL, in words for the caller, when the store has no room or cannot be reached.
   */
  async put(workspaceId: string, bytes: AsyncIterable<Uint8Array>): Promise<Blob> {
    const id = await this.#begin(workspaceId)
    const touch = () => this.#database.query(touchBlob(workspaceId, id)).catch(() => undefined)
    const timer = setInterval(touch, (this.#graceSeconds * 1000) / 3).unref()
    let broken: { readonly error: unknown } | undefined
    const watched = async function* () {
      try {
        yield* bytes
      } catch (error) {
        broken = { error }
        throw error
      }
    }
    try {
      return { id, ...(await this.#store.write(id, watched())) }
    } catch (error) {
      await this.discard(workspaceId, id).catch(() => undefined)
      throw broken ? broken.error : explained(error)
    } finally {
      clearInterval(timer)
    }
  }

  /** Opens a blob for reading, whole or in part; INTERNAL when its bytes cannot be had. Once it is open it is read to its end. */
  async read(id: string, range?: ByteRange): Promise<Readable> {
    await this.#requirePlace()
    try {
      return await this.#store.read(id, range)
    } catch (error) {
      throw explained(error)
    }
  }

  /** Deletes a blob now if nothing holds it: for bytes that were put and are not needed after all. */
  async discard(workspaceId: string, id: string): Promise<void> {
    const [doomed] = await this.#database.query(doomBlob(workspaceId, id))
    if (!doomed) return
    await this.#store.remove([id])
    await this.#database.query(deleteBlobs([workspaceId], [id]))
  }

  /** The same, unless the database went away before it answered: a row that holds it may have been committed all the same. */
  async discardAfter(error: unknown, workspaceId: string, id: string): Promise<void> {
    if (!isOutOfReach(error)) await this.discard(workspaceId, id).catch(() => undefined)
  }

  /** Deletes what nothing has held for long enough, in all workspaces; ends between two batches when the signal aborts. */
  async sweep(signal: AbortSignal, graceSeconds = this.#graceSeconds): Promise<number> {
    if ((await this.fault()) !== undefined) return 0
    for (let count = 0; ; ) {
      if (signal.aborted) return count
      const doomed = await this.#database.query<{ workspace_id: string; id: string }>(doomIdleBlobs(graceSeconds, sweepBatch))
      const ids = doomed.map(({ id }) => id)
      await this.#store.remove(ids)
      if (ids.length > 0)
        await this.#database.query(
          deleteBlobs(
            doomed.map(({ workspace_id }) => workspace_id),
            ids,
          ),
        )
      count += ids.length
      if (ids.length < sweepBatch) return count
    }
  }

  /** Why this process cannot serve files, in words for the operator; undefined when it can. */
  async fault(): Promise<string | undefined> {
    try {
      const place = await findPlace(this.#database, this.#store)
      return 'fault' in place ? place.fault : undefined
    } catch (error) {
      return `The file store is out of reach: ${(error as Error).message}`
    }
  }

  close(): void {
    this.#store.close()
  }

  /** Notes a new blob and returns its id. */
  async #begin(workspaceId: string): Promise<string> {
    const id = newId()
    const [noted] = await this.#database.query(insertBlob(workspaceId, id, await this.#requirePlace()))
    if (noted) return id
    // The installation has another store by now.
    this.#storeId = undefined
    await this.#requirePlace()
    throw explained(new Error('The file store was exchanged'))
  }

  /** The id of the store, which is asked for once; throws INTERNAL where it is not the installation's. */
  #requirePlace(): Promise<string> {
    if (this.#storeId) return this.#storeId
    const asked = this.#askPlace()
    this.#storeId = asked
    asked.catch(() => {
      this.#storeId = undefined
    })
    return asked
  }

  async #askPlace(): Promise<string> {
    const place = await findPlace(this.#database, this.#store).catch((error: unknown) => {
      throw explained(error)
    })
    if ('fault' in place) throw explained(new Error(place.fault))
    return place.id
  }
}

/** A failure of the store in words that a caller may read. */
function explained(error: unknown): Problem {
  const isFull = ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')
  const message = isFull ? 'The file store has no room left; nothing of the file is kept' : 'The file store is out of reach; try again'
  return problem('INTERNAL', message, { cause: error })
}
