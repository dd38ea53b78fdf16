import { randomInt } from 'node:crypto'
import type { Reply, Sender, Sent } from '#test/faults/load/sender.ts'

/** The responses to stations, each operation under its own mark, which the history of the queue contains. */
export class Acknowledged {
  /** The number of entries of the history that each operation made, by mark. */
  readonly entries = new Map<string, number>()
  claimed = 0
  operations = 0
}

/** The context of stations. */
export interface Post {
  readonly sender: Sender
  readonly acknowledged: Acknowledged
  /** The address of the queue. */
  readonly path: string
  /** Whether enough operations are done. */
  readonly isOver: () => boolean
  /** Aborts when begun requests need not be repeated any more. */
  readonly enough: AbortSignal
}

/** Stages, and the number of keys: few, so that stations meet the same items. */
const [stages, keys] = [['in', 'check', 'pack', 'out'], 150] as const

type Operation = (mark: string) => Promise<void>

/** Does random operations, each repeated with its key until it is answered, and records the responses. */
export async function workAt({ sender, acknowledged, path, isOver, enough }: Post, station: string): Promise<void> {
  const seen: string[] = []
  const post = (place: string, body: object, mark: string, mayBeRefused?: true): Promise<Reply> => {
    const headers = { 'idempotency-key': mark }
    const request: Sent = { method: 'POST', path: path + place, body, headers, ...(mayBeRefused ? { mayBeRefused } : {}) }
    return sender.persistently(request, enough)
  }
  const see = (item: { id: string } | null) => {
    if (item) seen.unshift(item.id)
    seen.length = Math.min(seen.length, 20)
  }
  const scan: Operation = async (mark) => {
    const to = randomInt(3) === 0 ? { to_stage: pick(stages) } : {}
    const { status, data } = await post('/scan', { key: anyKey(), note: mark, ...to }, mark)
    if (status !== 200) return
    acknowledged.entries.set(mark, 1)
    see(data.item)
  }
  const journal: Operation = async (mark) => {
    const scans = [1, 2, 3].map((number) => ({ scan_id: `${mark}.${number}`, scanned_at: new Date().toISOString(), key: anyKey() }))
    const { status } = await post('/scan/batch', { scans }, mark)
    if (status === 200) for (const { scan_id } of scans) acknowledged.entries.set(scan_id, 1)
  }
  const add: Operation = async (mark) => {
    const { status, data } = await post('/items', { keys: [anyKey(), anyKey()], note: mark, batch: station }, mark)
    if (status !== 201) return
    acknowledged.entries.set(mark, data.created)
    for (const item of data.items) see(item)
  }
  const move: Operation = async (mark) => {
    const [item] = seen
    if (item === undefined) return
    seen.push(seen.shift() ?? item)
    const { status } = await post(`/items/${item}/move`, { to_stage: pick(stages), note: mark }, mark, true)
    if (status === 200) acknowledged.entries.set(mark, 1)
  }
  const claim: Operation = async (mark) => {
    const { status, data } = await post('/claim', { count: 1 + randomInt(3) }, mark)
    if (status === 200) acknowledged.claimed += data.items.length
  }
  const kinds = [scan, scan, scan, move, move, claim, claim, add, journal]
  for (let number = 0; !isOver() && !enough.aborted; number++) {
    await pick(kinds)(`${station}-${number}`)
    acknowledged.operations += 1
  }
}

const anyKey = (): string => `key ${randomInt(keys)}`
const pick = <T>(things: readonly [T, ...T[]] | readonly T[]): T => things[randomInt(things.length)] as T
