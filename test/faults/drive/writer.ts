import { createHash, randomBytes, randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { hangMs } from '#test/faults/measure.ts'
import { spaceOf } from '#test/features/drive/support.ts'
import { Client } from '#test/support/client.ts'
import type { Org } from '#test/support/factories.ts'

/** The content of a folder: the digests of its files by key. */
export type Files = ReadonlyMap<string, string>

/** The result of a writer. */
export interface Written {
  readonly operations: number
  /** Operations whose outcome was only known by reading. */
  readonly unknown: number
  readonly slowestMs: number
  readonly files: Files
  readonly wrong: readonly string[]
}

interface Operation {
  readonly send: () => Promise<{ readonly status: number; readonly text: string }>
  /** The content of the folder at the end. */
  readonly after: Files
}

/** The place and the end of a writer's work. */
export interface Writing {
  readonly isOver: () => boolean
  /** Receives each acknowledged operation. */
  readonly acknowledged: () => void
  readonly roots: readonly string[]
  readonly org: Org
  readonly spaceId: string
  /** Resolves once no earlier transaction is open. */
  readonly quiet: () => Promise<void>
}

/**
 * Works in its own folder, one operation after the other, and knows its content: each operation is done completely or not at all. The
 * outcome of an operation without a response is read; then the next one follows.
 */
export async function writeUntil({ isOver, acknowledged, roots, org, spaceId, quiet }: Writing, folder: string): Promise<Written> {
  const at = (root: string) => spaceOf(new Client(root, org.owner.token), org, spaceId)
  const wrong: string[] = []
  let files: Files = new Map()
  let [operations, unknown, slowestMs] = [0, 0, 0]
  while (!isOver() && wrong.length === 0) {
    const root = roots[operations % roots.length] ?? ''
    const { send, after } = nextOperation(at(root), folder, files)
    const began = performance.now()
    const answer = await send().catch(() => undefined)
    operations += 1
    slowestMs = Math.max(slowestMs, performance.now() - began)
    if (answer && answer.status < 300) {
      files = after
      acknowledged()
    } else if (answer && answer.status < 500) wrong.push(`an operation was refused: ${answer.status} ${answer.text}`)
    else {
      unknown += 1
      await quiet()
      const found = await look(roots.map(at), folder)
      if (isSame(found, after)) files = after
      else if (!isSame(found, files))
        wrong.push(`${folder} holds neither what it held nor what it was to hold: ${difference(found, files)}`)
    }
  }
  return { operations, unknown, slowestMs, files, wrong }
}

function nextOperation(space: ReturnType<typeof spaceOf>, folder: string, files: Files): Operation {
  const keys = [...files.keys()]
  const some = keys[randomInt(Math.max(1, keys.length))]
  const draw = randomInt(10)
  const fresh = `${folder}${randomInt(3)}/${randomInt(6)}`
  if (some !== undefined && draw === 0) return { send: () => space.remove(some), after: without(files, some) }
  if (some !== undefined && draw < 3 && !files.has(fresh)) {
    return { send: () => space.move(some, fresh), after: new Map([...without(files, some), [fresh, files.get(some) ?? '']]) }
  }
  const [from, to] = [`${folder}${randomInt(3)}/`, `${folder}moved${randomInt(1_000)}/`]
  if (draw === 3 && keys.some((key) => key.startsWith(from)) && !keys.some((key) => key.startsWith(to))) {
    const renamed = (key: string) => (key.startsWith(from) ? to + key.slice(from.length) : key)
    return { send: () => space.move(from, to), after: new Map([...files].map(([key, digest]) => [renamed(key), digest])) }
  }
  if (draw === 4) {
    const gone = some?.startsWith(`${folder}moved`) ? `${some.slice(0, some.lastIndexOf('/'))}/` : from
    return { send: () => space.remove(gone), after: new Map([...files].filter(([key]) => !key.startsWith(gone))) }
  }
  const bytes = randomBytes(randomInt(200_000))
  const target = some !== undefined && draw === 5 ? some : fresh
  return { send: () => space.put(target, bytes), after: new Map([...files, [target, digestOf(bytes)]]) }
}

/** The content of a folder, from any API. */
export async function look(spaces: readonly ReturnType<typeof spaceOf>[], folder: string): Promise<Files> {
  for (const deadline = performance.now() + hangMs; ; await delay(50)) {
    for (const space of spaces) {
      const { data } = await space.list({ prefix: folder, q: '', limit: 200 }).catch(() => ({ data: undefined }))
      const inside =
        data && (await Promise.all(data.folders.map(({ prefix }: { prefix: string }) => look([space], prefix))).catch(() => undefined))
      if (!inside) continue
      const own = data.objects.map(({ key, sha256 }: { key: string; sha256: string }) => [key, sha256] as const)
      return new Map([...own, ...inside.flatMap((files: Files) => [...files])])
    }
    if (performance.now() > deadline) throw new Error(`No API lists ${folder}`)
  }
}

export const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const without = (files: Files, key: string): Files => new Map([...files].filter(([one]) => one !== key))
export const isSame = (one: Files, other: Files): boolean =>
  one.size === other.size && [...one].every(([key, digest]) => other.get(key) === digest)
export const difference = (one: Files, other: Files): string =>
  [...new Set([...one.keys(), ...other.keys()])].filter((key) => one.get(key) !== other.get(key)).join(', ')
