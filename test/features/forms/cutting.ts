import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { fromAnywhere } from '#test/support/account.ts'
import { Wire } from '#test/support/wire.ts'

/** A submission that a visitor intends. */
export interface Said {
  readonly email: string
  /** Long enough that a cut finds much of it. */
  readonly note: string
  /** Idempotency-Key of the request; empty for a visitor without one. */
  readonly key: string
}

/** Invents a submission; every second one has a key. */
export function makeUp(index: number): Said {
  const id = randomUUID()
  return { email: `${id}@example.com`, note: `${id} `.repeat(randomInt(1, 40)).trim(), key: index % 2 === 0 ? id : '' }
}

/** The request of a submission, byte for byte. */
function bytesOf(path: string, { email, note, key }: Said): Buffer {
  const body = Buffer.from(JSON.stringify({ values: { email, note } }))
  const lines = [
    `POST ${path} HTTP/1.1`,
    ...['Host: localhost', 'Connection: close', 'Content-Type: application/json', `Content-Length: ${body.length}`],
    ...Object.entries(fromAnywhere()).map(([name, value]) => `${name}: ${value}`),
    ...(key === '' ? [] : [`Idempotency-Key: ${key}`]),
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body])
}

/** Where a connection breaks: after some byte of the request, a moment after its last one, or with the first byte of the answer. */
const breaks = ['in it', 'in it', 'in it', 'after it', 'at the answer'] as const

/** Sends a submission whose connection breaks off. */
export async function sendCut(port: number, path: string, said: Said): Promise<void> {
  const bytes = bytesOf(path, said)
  const where = breaks[randomInt(breaks.length)]
  const wire = new Wire(port)
  const answered = new Promise((resolve) => wire.socket.once('data', resolve).once('close', resolve))
  await new Promise((resolve) => wire.socket.write(where === 'in it' ? bytes.subarray(0, randomInt(bytes.length)) : bytes, resolve))
  // Any moment: the connection may break before, while or after the server works.
  if (where === 'after it') await delay(randomInt(12))
  if (where === 'at the answer') await answered
  wire.breakOff()
}

/** A stored submission. */
export interface Kept {
  readonly values: { readonly email: string; readonly note: string }
}

/** The stored submissions that differ from the intended ones or exist twice, as text. */
export function wrongOf(all: readonly Said[], kept: readonly Kept[]): string[] {
  const meant = new Map(all.map(({ email, note }) => [email, note]))
  const found = Map.groupBy(kept, ({ values }) => values.email)
  return [
    ...kept.filter(({ values }) => meant.get(values.email) !== values.note).map(({ values }) => `${values.email} is not whole`),
    ...[...found].filter(([, same]) => same.length > 1).map(([email, same]) => `${email} is there ${same.length} times`),
  ]
}
