import type { Readable } from 'node:stream'

/** Bytes of a blob from `start` to `end`, both inclusive. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Size and hash of written bytes, computed while writing. */
export interface WrittenBytes {
  readonly sizeBytes: number
  /** SHA-256 in lower-case hexadecimal. */
  readonly sha256: string
}

/** A store of bytes by id: the local disk or an S3 service. Bytes under an id never change. */
export interface ByteStore {
  readonly kind: 'disk' | 's3'
  /**
   * Writes a stream under an id; once it resolves, the bytes survive a crash. When it throws, nothing can be read, and `remove` deletes any
   * remains. An error of the stream is rethrown unchanged.
   */
  write(id: string, bytes: AsyncIterable<Uint8Array>): Promise<WrittenBytes>
  /** Opens the bytes or a range of them; they stay readable to the end even when removed. Throws for an id without bytes. */
  read(id: string, range?: ByteRange): Promise<Readable>
  /** Removes complete and partial bytes under these ids; ignores ids without bytes. */
  remove(ids: readonly string[]): Promise<void>
  /** The id stored in the store itself; undefined in a new store. */
  identity(): Promise<string | undefined>
  /** Sets the store's id unless it has one; returns the id it has afterwards. */
  identify(id: string): Promise<string>
  /** Free bytes of the disk that uploads are written to: the spool of S3, or the store itself. */
  freeBytes(): Promise<number>
  close(): void
}
