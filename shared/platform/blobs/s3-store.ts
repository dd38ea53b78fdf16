import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { Agent as SecureAgent } from 'node:https'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import type { ByteRange, ByteStore, WrittenBytes } from '#shared/platform/blobs/byte-store.ts'
import { readFreeBytes } from '#shared/platform/blobs/free-bytes.ts'
import { writeMeasured } from '#shared/platform/blobs/measured-write.ts'
import type { S3Settings } from '#shared/platform/kernel/config.ts'
import { privateFileMode, privateFolderMode } from '#shared/platform/kernel/process/private-files.ts'
import { createSemaphore } from '#shared/platform/kernel/process/semaphore.ts'

/** Concurrent uploads per process; others wait on the local disk. Measured: 20 uploads of 100 MB grow memory by 81 MB. */
const putsAtOnce = 4

/** Attempts per call. A service that fails one call in twenty fails five in a row once in three million. */
const attempts = 5

/** A connection without data for this long is closed; a read continues from its position on a new one. */
const stallMs = 30_000

/** The longest wait for the beginning of an answer to a read, in milliseconds: callers are answered within 4 s. */
const answerMs = 3_500

/** A connection that is not open by then has failed; attempts that fail at once are repeated for this long, in milliseconds. */
const reachMs = 3_000

const quiet = () => undefined

const identityKey = 'kontor-store-id'
const keyOf = (id: string): string => `blobs/${id.slice(-2)}/${id}`

/** Stores bytes in a bucket of an S3 service. A stream is spooled to the local disk first, since a retried upload must read it again. */
export class S3Store implements ByteStore {
  readonly kind = 's3'
  readonly #client: S3Client
  readonly #bucket: string
  readonly #spool: string
  readonly #semaphore = createSemaphore(putsAtOnce)
  /** The last upload that the service failed in all attempts. */
  #failure: { readonly at: number; readonly error: unknown } | undefined

  constructor({ endpoint, bucket, region, accessKeyId, secretAccessKey, pathStyle }: S3Settings, dataDir: string) {
    this.#bucket = bucket
    this.#spool = join(dataDir, 'spool')
    const agent = { keepAlive: true, maxSockets: 512 }
    this.#client = new S3Client({
      region,
      forcePathStyle: pathStyle,
      ...(endpoint === null ? {} : { endpoint }),
      credentials: { accessKeyId, secretAccessKey },
      maxAttempts: attempts,
      // Final failures are thrown and logged by the caller.
      logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      // Many services other than Amazon's do not support the checksums that the client sends by default.
      ...(endpoint === null ? {} : { requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' }),
      requestHandler: {
        connectionTimeout: reachMs,
        socketTimeout: stallMs,
        httpAgent: new Agent(agent),
        httpsAgent: new SecureAgent(agent),
      },
    })
  }

  write(id: string, bytes: AsyncIterable<Uint8Array>): Promise<WrittenBytes> {
    return withSpooledFile(this.#spool, id, bytes, async (file) => {
      const waiting = performance.now()
      await this.#semaphore(() => {
        // What waited while the service failed would fail after the same time again.
        if (this.#failure && this.#failure.at > waiting) throw this.#failure.error
        return this.#send(keyOf(id), file)
      })
      return { sizeBytes: file.sizeBytes, sha256: file.sha256 }
    })
  }

  /** A read survives broken connections: the rest is requested again. */
  async read(id: string, range?: ByteRange): Promise<Readable> {
    return Readable.from(await this.#open(keyOf(id), range), { objectMode: false, highWaterMark: 128 * 1024 })
  }

  async remove(ids: readonly string[]): Promise<void> {
    const semaphore = createSemaphore(putsAtOnce)
    await Promise.all(
      ids.map((id) => semaphore(() => this.#client.send(new DeleteObjectCommand({ Bucket: this.#bucket, Key: keyOf(id) })))),
    )
  }

  async identity(): Promise<string | undefined> {
    try {
      return Buffer.concat(await Array.fromAsync(await this.#open(identityKey)))
        .toString()
        .trim()
    } catch (error) {
      if ((error as Error).name === 'NoSuchKey') return undefined
      throw error
    }
  }

  async identify(id: string): Promise<string> {
    const known = await this.identity()
    if (known !== undefined) return known
    await this.#client.send(new PutObjectCommand({ Bucket: this.#bucket, Key: identityKey, Body: `${id}\n`, ContentType: 'text/plain' }))
    return id
  }

  freeBytes(): Promise<number> {
    return readFreeBytes(this.#spool)
  }

  close(): void {
    this.#client.destroy()
  }

  /** One PutObject; it can be retried because the file can be read again. */
  async #send(key: string, { open, sizeBytes }: SpooledFile): Promise<void> {
    const began = performance.now()
    for (let attempt = 1; ; attempt++) {
      const body = open()
      const sending = performance.now()
      try {
        await this.#client.send(new PutObjectCommand({ Bucket: this.#bucket, Key: key, Body: body, ContentLength: sizeBytes }))
        return
      } catch (error) {
        const now = performance.now()
        // A long upload that broke is sent again; a service that fails at once is away.
        const isAway = now - sending < answerMs && now - began > reachMs
        if (isRefusal(error)) throw error
        if (attempt >= attempts || isAway) {
          this.#failure = { at: now, error }
          throw error
        }
        await delay(50 * 2 ** attempt * (0.5 + Math.random() / 2))
      } finally {
        body.destroy()
      }
    }
  }

  /** Opens an object's bytes; resolves when the first have arrived. */
  async #open(key: string, range?: ByteRange): Promise<AsyncGenerator<Uint8Array>> {
    const first = await this.#get(key, range)
    const start = range?.start ?? 0
    return this.#readOn(key, first.body, { start, end: start + first.length - 1 })
  }

  async #get(key: string, range?: ByteRange): Promise<{ body: Readable; length: number }> {
    const sentRange = range && `bytes=${range.start}-${range.end}`
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error(`The object store did not answer within ${answerMs} ms`)), answerMs)
    const request = new GetObjectCommand({ Bucket: this.#bucket, Key: key, Range: sentRange })
    const { Body, ContentLength } = await this.#client.send(request, { abortSignal: late.signal }).finally(() => clearTimeout(timer))
    if (!(Body instanceof Readable) || ContentLength === undefined) throw new Error('The object store answered without a body')
    return { body: Body, length: ContentLength }
  }

  async *#readOn(key: string, first: Readable, { start, end }: ByteRange): AsyncGenerator<Uint8Array> {
    let body = first
    let at = start
    for (let failures = 0; ; ) {
      try {
        for await (const piece of body as AsyncIterable<Uint8Array>) {
          at += piece.length
          failures = 0
          yield piece
        }
        if (at > end) return
        throw new Error('The object store ended an answer early')
      } catch (error) {
        failures += 1
        if (at > end) return
        if (failures >= attempts) throw error
        await delay(50 * 2 ** failures)
        body = (await this.#get(key, { start: at, end })).body
      }
    }
  }
}

/** Whether the service refused the request, so a retry is useless. */
const isRefusal = (error: unknown): boolean => {
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode
  return status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429
}

/** A stream stored on the local disk; it can be read many times. */
interface SpooledFile extends WrittenBytes {
  /** Opens the bytes from the beginning. */
  readonly open: () => Readable
}

const pieceBytes = 64 * 1024

/**
 * Writes a stream to a temporary file for the duration of the work. The file is unlinked while in use, so the operating system frees it
 * when the process is killed.
 */
async function withSpooledFile<T>(
  folder: string,
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  work: (spooled: SpooledFile) => Promise<T>,
): Promise<T> {
  const handle = await openUnlinked(folder, name)
  try {
    const written = await writeMeasured(bytes, async (pieces) => void (await handle.appendFile(Buffer.concat(pieces))))
    return await work({ ...written, open: () => Readable.from(readAll(handle), { objectMode: false }) })
  } finally {
    await handle.close()
  }
}

/** Reads without the handle's own stream, which would close the handle when an upload attempt is aborted. */
async function* readAll(handle: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

async function openUnlinked(folder: string, name: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: privateFolderMode })
  const path = join(folder, name)
  const handle = await open(path, 'wx+', privateFileMode)
  await rm(path)
  return handle
}
