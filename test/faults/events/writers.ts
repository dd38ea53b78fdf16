import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Reply, Sender } from '#test/faults/load/sender.ts'

/** An acknowledged change of a record, with the times of its first request and of its answer. */
export interface Change {
  readonly event: 'records.created' | 'records.updated' | 'records.deleted'
  readonly record: string
  /** The text that the change wrote; undefined for a deletion. */
  readonly token?: string
  readonly sentAt: number
  readonly answeredAt: number
}

/** What writers share. */
export interface Desk {
  readonly sender: Sender
  /** The path of the workspace. */
  readonly path: string
  /** All acknowledged changes. */
  readonly changes: Change[]
  /** Records that all writers change. */
  readonly shared: readonly Held[]
  readonly isOver: () => boolean
  /** Aborts when begun requests need not be repeated any more. */
  readonly enough: AbortSignal
}

/** A record that a writer may change. */
export interface Held {
  readonly type: string
  readonly id: string
}

export const types = ['parcels', 'letters'] as const

/** Changes of one batch, and records that a writer keeps to change them later. */
const [batchSize, maxKept] = [100, 200]

const pick = <T>(things: readonly T[]): T => things[randomInt(things.length)] as T

/** Random values of which `notes` is like no other. */
const valuesWith = (token: string) => ({
  notes: token,
  region: pick(['north', 'south', null]),
  ...(randomInt(2) === 0 ? { rank: randomInt(100) } : {}),
  ...(randomInt(2) === 0 ? { secret: `secret ${token}` } : {}),
})

/** Creates, changes and deletes records at random until it is over, singly and in batches, and notes what was acknowledged. */
export async function writeAt(desk: Desk): Promise<void> {
  const { sender, path, changes, shared, isOver, enough } = desk
  const own: Held[] = []
  const take = (): Held | undefined => own.splice(randomInt(Math.max(1, own.length)), 1)[0]
  const keep = (...records: readonly Held[]) => {
    own.push(...records)
    own.splice(0, Math.max(0, own.length - maxKept))
  }
  const create = async () => {
    const [type, token, sentAt] = [pick(types), randomUUID(), performance.now()]
    const { status, data } = await sender.persistently(
      { method: 'POST', path: `${path}/records/${type}`, body: { values: valuesWith(token) }, headers: { 'idempotency-key': token } },
      enough,
    )
    if (status !== 201) return
    changes.push({ event: 'records.created', record: data.id, token, sentAt, answeredAt: performance.now() })
    keep({ type, id: data.id })
  }
  const change = async ({ type, id }: Held) => {
    const [token, sentAt] = [randomUUID(), performance.now()]
    const { status } = await sender.persistently(
      { method: 'PUT', path: `${path}/records/${type}/${id}/values`, body: { values: valuesWith(token) } },
      enough,
    )
    if (status === 204) changes.push({ event: 'records.updated', record: id, token, sentAt, answeredAt: performance.now() })
  }
  const changeOwn = async () => {
    const record = take()
    if (!record) return create()
    await change(record)
    keep(record)
  }
  /** Sent once: a repetition would not find the record. */
  const remove = async () => {
    const record = take()
    if (!record) return create()
    const sentAt = performance.now()
    const { status } = await sender.once({ method: 'DELETE', path: `${path}/records/${record.type}/${record.id}` })
    if (status === 204) changes.push({ event: 'records.deleted', record: record.id, sentAt, answeredAt: performance.now() })
  }
  const batch = async () => {
    const operations = Array.from({ length: batchSize }, () => operationOn(randomInt(3) === 0 ? take() : undefined))
    const sentAt = performance.now()
    const { status, data } = await untilDone(desk, `${path}/batch`, { operations: operations.map(({ body }) => body), atomic: false })
    if (status !== 200) return
    const answeredAt = performance.now()
    for (const [index, { event, type, token, record }] of operations.entries()) {
      const result = data.results[index]
      if (result.error !== null) throw new Error(`An operation of a batch failed: ${JSON.stringify(result.error)}`)
      const id = record ?? result.record.id
      changes.push({ event, record: id, ...(token ? { token } : {}), sentAt, answeredAt })
      if (event !== 'records.deleted') keep({ type, id })
    }
  }
  const steps = [...Array(8).fill(create), ...Array(6).fill(changeOwn), ...Array(4).fill(() => change(pick(shared))), remove, remove, batch]
  while (!isOver() && !enough.aborted) await pick(steps)()
}

/** A change of a batch: of this record, or the creation of one. */
function operationOn(held: Held | undefined) {
  const [type, token] = [held?.type ?? pick(types), randomUUID()]
  if (!held)
    return { event: 'records.created', type, token, record: undefined, body: { type, op: 'create', values: valuesWith(token) } } as const
  const { id } = held
  if (randomInt(3) === 0) return { event: 'records.deleted', type, token: undefined, record: id, body: { type, op: 'delete', id } } as const
  return { event: 'records.updated', type, token, record: id, body: { type, op: 'update', id, values: valuesWith(token) } } as const
}

/** Repeats long work with its key until it is done. */
async function untilDone({ sender, enough }: Desk, path: string, body: unknown): Promise<Reply> {
  const headers = { 'idempotency-key': randomUUID(), prefer: 'wait=4' }
  for (;;) {
    const reply = await sender.persistently({ method: 'POST', path, body, headers }, enough)
    if (reply.status !== 202 || enough.aborted) return reply
    await delay(200)
  }
}
