import { setTimeout as delay } from 'node:timers/promises'
import { changes, creations, imports, invocations, type Kind, keyedCreations, reads } from '#test/faults/load/kinds.ts'
import { Promises } from '#test/faults/load/promises.ts'
import { Sender } from '#test/faults/load/sender.ts'
import type { Org } from '#test/support/factories.ts'

interface Share {
  readonly kind: Kind
  readonly streams: number
  readonly restMs: number
}

/** Streams of each kind, and the pause between two requests: short enough to be always busy, and long enough to restart processes. */
const everything: readonly Share[] = [
  { kind: creations, streams: 4, restMs: 40 },
  { kind: keyedCreations, streams: 4, restMs: 40 },
  { kind: changes, streams: 2, restMs: 40 },
  { kind: imports, streams: 1, restMs: 200 },
  { kind: invocations, streams: 3, restMs: 100 },
  { kind: reads, streams: 2, restMs: 40 },
]

/** Time for begun requests to be answered after the end of the load. */
const patienceMs = 60_000

/** Requests of all kinds until the end of the load. */
export interface Load {
  readonly sender: Sender
  readonly promises: Promises
  readonly isNumbered: boolean
  /** Begins no more requests; resolves when the begun ones have been answered. */
  readonly end: () => Promise<void>
}

interface LoadOptions {
  /** Whether every record gets a number. Creations then run one after the other. */
  readonly isNumbered?: boolean
  /** The kinds of work, if they are not the usual ones. */
  readonly mix?: readonly Share[]
}

/** Starts a load on a workspace through these APIs. */
export async function startLoad(
  org: Org,
  apis: readonly { readonly root: string }[],
  { isNumbered = false, mix = everything }: LoadOptions = {},
): Promise<Load> {
  const roots = apis.map(({ root }) => root)
  const [sender, promises] = [new Sender(roots, org.owner.token ?? ''), new Promises()]
  const [over, enough] = [new AbortController(), new AbortController()]
  const stream = { sender, promises, path: org.path, functionId: await makeFunction(org), enough: enough.signal }
  await makeRule(org)
  if (isNumbered) await numberRecords(org)
  const streams = mix.flatMap(({ kind, streams, restMs }) =>
    Array.from({ length: streams }, async () => {
      for (const step = await kind(stream); !over.signal.aborted; await delay(restMs)) await step()
    }),
  )
  const all = Promise.all(streams)
  all.catch(() => undefined)
  return {
    sender,
    promises,
    isNumbered,
    end: async () => {
      over.abort()
      const timer = setTimeout(() => enough.abort(), patienceMs)
      await all
      clearTimeout(timer)
      if (enough.signal.aborted) sender.wrong.add(`Requests were not answered within ${patienceMs / 1000} s of the last fault`)
    },
  }
}

/** A function that creates the record that its input names. */
async function makeFunction({ owner, path }: Org): Promise<string> {
  const source = `async function handler(name) { await sdk.records.create('locations', { name }); return name }`
  return (await owner.post(`${path}/functions`, { name: 'Load', source, timeout_ms: 20_000 })).data.id
}

/** Every new location notifies the owner. */
async function makeRule({ owner, path }: Org): Promise<void> {
  await owner.post(`${path}/notification-rules`, { name: 'Load', object_type: 'locations', event: 'created', title: 'A new place' })
}

/** Every new location gets a number of one series in its field `number`. */
async function numberRecords({ owner, path }: Org): Promise<void> {
  const field = { entity_type: 'locations', key: 'number', label: 'Number', type: 'string' }
  const { data } = await owner.post(`${path}/fields`, field)
  const { status, text } = await owner.put(`${path}/fields/${data?.id}/autogen`, { pattern: 'N-{seq}' })
  if (status !== 200) throw new Error(text)
}
