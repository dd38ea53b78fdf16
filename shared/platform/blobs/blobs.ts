import { Readable } from 'node:stream'
import type { ByteRange, ByteStore, WrittenBytes } from '#shared/platform/blobs/byte-store.ts'
import {
  deleteBlobs,
  doomBlob,
  doomBlobsOfWorkspace,
  doomIdleBlobs,
  insertBlob,
  measureBlob,
  touchBlob,
} from '#shared/platform/blobs/store.ts'
import { findStoreIdentity } from '#shared/platform/blobs/store-identity.ts'
import { storeProblem } from '#shared/platform/blobs/store-problem.ts'
import type { Database } from '#shared/platform/db/database.ts'
import { isDatabaseUnavailable, partAwayOf } from '#shared/platform/db/database-errors.ts'
import { isHeld } from '#shared/platform/db/restored/restored-copy.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'
import { newId } from '#shared/platform/kernel/ids.ts'
import type { Part } from '#shared/platform/kernel/process/part.ts'

/** Bytes in the store. The sweep keeps them while a committed row in a table with the trigger `hold_blob` has this `blob_id`. */
interface Blob extends WrittenBytes {
  readonly id: string
}

/** Blobs that the sweep deletes per batch. */
const sweepBatch = 200

/** Milliseconds that a check of the store waits, so that `/readyz` answers soon. */
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
  readonly #part: Part
  #storeId: Promise<string> | undefined

  /** `part` learns from the calls whether the store is there. */
  constructor(database: Database, store: ByteStore, sweepSeconds: number, part: Part) {
    this.#database = database
    this.#store = store
    this.#part = part
    this.#graceSeconds = Math.max(sweepSeconds / 2, sweepSeconds - 10 * sweepIntervalSeconds)
  }

  /**
   * Writes a stream as a new blob that no row holds yet. When the stream fails, nothing is kept and its error is rethrown. Throws
   * UNAVAILABLE, with a message for the caller, when the store is full or cannot be reached.
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
      const written = await this.#store.write(id, watched())
      this.#part.succeeded()
      await this.#database.query(measureBlob({ workspaceId, id, ...written }))
      return { id, ...written }
    } catch (error) {
      const failure = streamFailure ? streamFailure.error : await this.#problemOf(error)
      const discarding = this.discard(workspaceId, id).catch(() => undefined)
      // A store that is away deletes nothing either, and the caller does not wait for it; the sweep finds what is left.
      if (partAwayOf(failure) !== this.#part.name) await discarding
      throw failure
    } finally {
      clearInterval(timer)
    }
  }

  /**
   * Opens a blob or a range of it for reading; an open blob stays readable to its end. Throws UNAVAILABLE when the store cannot be reached,
   * INTERNAL when it does not have the bytes.
   */
  async read(id: string, range?: ByteRange): Promise<Readable> {
    await this.#requireIdentity()
    try {
      const bytes = await this.#store.read(id, range)
      this.#part.succeeded()
      const translated = Readable.from(this.#translated(bytes), { objectMode: false, highWaterMark: 128 * 1024 })
      // A reader that goes away before its first byte has not begun to iterate.
      return translated.once('close', () => bytes.destroy())
    } catch (error) {
      throw await this.#problemOf(error)
    }
  }

  /** A read that breaks in the middle fails as one that does not begin: a job that reads must know why. */
  async *#translated(bytes: Readable): AsyncGenerator<Uint8Array> {
    try {
      yield* bytes as AsyncIterable<Uint8Array>
    } catch (error) {
      throw await this.#problemOf(error)
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
    // The store of a restored copy may be that of the original.
    if ((await isHeld(this.#database)) || (await this.check()) !== undefined) return 0
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

  /** Deletes all blobs of a workspace that no row holds, for one that is being deleted. Throws when the store is out of reach. */
  async removeAll(workspaceId: string, signal: AbortSignal): Promise<void> {
    await this.#requireIdentity()
    for (;;) {
      signal.throwIfAborted()
      const ids = (await this.#database.query(doomBlobsOfWorkspace({ workspaceId, limit: sweepBatch }))).map(({ id }) => id)
      if (ids.length === 0) return
      await this.#store.remove(ids)
      await this.#database.query(deleteBlobs({ workspaceIds: ids.map(() => workspaceId), ids }))
    }
  }

  /** Where the bytes are. */
  get kind(): ByteStore['kind'] {
    return this.#store.kind
  }

  /**
   * Why this process cannot serve files, as a message for the operator: the store is another installation's (`foreign`), or gives no answer
   * within 2 s (`away`). Undefined when it can. The part learns it.
   */
  async check(): Promise<{ readonly foreign: string } | { readonly away: string } | undefined> {
    const late = Promise.withResolvers<never>()
    const store = this.#store
    let isAsked = false
    const identity = () => {
      isAsked = true
      return store.identity()
    }
    const watchedStore = { kind: store.kind, identity, identify: (id: string) => store.identify(id) }
    const timer = setTimeout(() => late.reject(new Error('no answer')), checkWithinMs)
    try {
      const found = await Promise.race([findStoreIdentity(this.#database, watchedStore), late.promise])
      if ('fault' in found) return { foreign: found.fault }
      this.#part.succeeded()
      return undefined
    } catch (error) {
      // The database is asked first. Without its answer nothing is known of the store.
      if (isAsked && !(error instanceof Problem)) this.#part.failed(error)
      return { away: `The file store is out of reach: ${(error as Error).message || (error as { code?: string }).code}` }
    } finally {
      clearTimeout(timer)
    }
  }

  /** Throws when the store cannot be reached or is not the installation's. */
  async probe(): Promise<void> {
    const identity = await findStoreIdentity(this.#database, this.#store)
    if ('fault' in identity) throw new Error(identity.fault)
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
    throw await this.#problemOf(new Error('The file store was replaced'))
  }

  /** The store's id, read once and kept. Throws UNAVAILABLE when the store cannot be reached or is not the installation's. */
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
    const identity = await findStoreIdentity(this.#database, this.#store).catch(async (error: unknown) => {
      throw await this.#problemOf(error)
    })
    if ('fault' in identity) throw await this.#problemOf(new Error(identity.fault))
    return identity.id
  }

  /** The failure to throw for an error of the store. Errors of the database, which are Problems, stay as they are. */
  async #problemOf(error: unknown): Promise<Problem> {
    if (error instanceof Problem) return error
    const failure = await storeProblem(error, this.#store, this.#part)
    if (failure.part && failure.expected) this.#part.failed(error)
    return failure
  }
}
