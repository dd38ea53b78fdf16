import type { Readable } from 'node:stream'

/** Bytes of a blob from `start` to `end`, both of them in it. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** What was written, as it was counted on the way. */
export interface Written {
  readonly sizeBytes: number
  /** SHA-256 in lower-case hexadecimal. */
  readonly sha256: string
}

/** Where bytes lie: the local disk, or a service that speaks S3. What is written under an id never changes. */
export interface ByteStore {
  readonly kind: 'disk' | 's3'
  /**
   * Writes a stream under an id; once it resolves, the bytes outlive a crash. When it throws, nothing of them can be read, and `remove` takes
   * away what may be left. A failure of the stream is thrown on as it is.
   */
  write(id: string, bytes: AsyncIterable<Uint8Array>): Promise<Written>
  /** Opens what was written, whole or a part of it. It can be read to its end whatever is removed meanwhile. Throws when there is none. */
  read(id: string, range?: ByteRange): Promise<Readable>
  /** Removes what was written under these ids, wholly or in part; ids without bytes are passed over. */
  remove(ids: readonly string[]): Promise<void>
  /** The id that the store holds of itself, or undefined. */
  identity(): Promise<string | undefined>
  /** Gives the store this id unless it holds one; returns the one that it holds then. */
  identify(id: string): Promise<string>
  close(): void
}
