import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { Api } from '../client/api.ts'
import { type ProgressBar, progressBar } from '../client/progress-bar.ts'
import type { Terminal } from '../shell.ts'
import { type DriveLocation, queryString } from './location.ts'

/** An uploaded file as the API describes it. */
export interface SentObject {
  readonly key: string
  readonly size: number
  readonly content_type: string
  readonly sha256: string
}

/** Uploads a local file with a progress bar. Throws VALIDATION_ERROR when the file does not exist, and the API's Problem. */
export async function sendFile(api: Api, file: string, { path, key }: DriveLocation, terminal: Terminal): Promise<SentObject> {
  const size = await sizeOf(file)
  const boundary = `kontor-${randomUUID()}`
  const bar = progressBar(terminal, size, 'bytes')
  try {
    const body = () => formOf(boundary, key, createReadStream(file), basename(file), bar)
    return await api.upload<SentObject>(`${path}/objects`, `multipart/form-data; boundary=${boundary}`, body)
  } finally {
    bar.clear()
  }
}

async function* formOf(
  boundary: string,
  key: string,
  bytes: AsyncIterable<Buffer>,
  name: string,
  bar: ProgressBar,
): AsyncGenerator<Uint8Array> {
  const field = `--${boundary}\r\nContent-Disposition: form-data; name="key"\r\n\r\n${key}\r\n`
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${encodeURIComponent(name)}"\r\n\r\n`
  yield Buffer.from(field + head)
  let done = 0
  for await (const piece of bytes) {
    yield piece
    done += piece.length
    bar.show(done)
  }
  yield Buffer.from(`\r\n--${boundary}--\r\n`)
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((cause: unknown) => {
    throw problem('VALIDATION_ERROR', `There is no file ${file}`, { cause })
  })
  if (!found.isFile()) throw problem('VALIDATION_ERROR', `${file} is no file`)
  return found.size
}

/**
 * Downloads a file of the drive with a progress bar and returns its size. The data goes to a temporary file in the same folder, which is
 * renamed when it is complete and its digest matches the API's.
 */
export async function fetchFile(api: Api, { path, key }: DriveLocation, file: string, terminal: Terminal): Promise<number> {
  const { bytes, size, sha256 } = await api.open(`${path}/download?${queryString({ key })}`)
  const partial = `${file}.${randomUUID().slice(0, 8)}.half`
  const bar = progressBar(terminal, size, 'bytes')
  const digest = createHash('sha256')
  let done = 0
  const countedBytes = async function* () {
    for await (const piece of bytes as AsyncIterable<Buffer>) {
      digest.update(piece)
      done += piece.length
      bar.show(done)
      yield piece
    }
  }
  try {
    await pipeline(countedBytes(), createWriteStream(partial))
    if (digest.digest('hex') !== sha256) throw problem('INTERNAL', 'The downloaded file does not match its digest')
    await rename(partial, file)
    return done
  } finally {
    bar.clear()
    await rm(partial, { force: true })
  }
}
