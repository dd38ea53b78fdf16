import test, { type ExecutionContext } from 'ava'
import { createLine, type Line, proven } from '#test/features/queues/support.ts'
import { times } from '#test/support/depth.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)

/** Numbers that are the same in every run of a seed (mulberry32). */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

interface Item {
  readonly id: string
  readonly key: string
  stage: string
  status: string
  priority: number
  claimed: boolean
}

const stages = [
  { key: 'in', kind: 'start', from: [] as string[], wip_limit: 0 },
  { key: 'check', from: ['in'], wip_limit: 3 },
  { key: 'pack', from: [] as string[], wip_limit: 0 },
  { key: 'out', kind: 'terminal', from: ['check', 'pack'], wip_limit: 0 },
]

/** A queue in memory, by the rules of docs/contract/queues.md. */
class Model {
  readonly items: Item[] = []
  open = (key: string) => this.items.find((item) => item.key === key && item.status === 'open')
  inside = (stage: string) => this.items.filter((item) => item.stage === stage && item.status === 'open')

  /** Whether the item may move there. */
  accepts(item: Item, to: string): boolean {
    const stage = stages.find(({ key }) => key === to)
    if (!stage || item.status !== 'open') return false
    if (stage.from.length > 0 && !stage.from.includes(item.stage)) return false
    return stage.wip_limit === 0 || this.inside(to).filter(({ id }) => id !== item.id).length < stage.wip_limit
  }

  move(item: Item, to: string): void {
    Object.assign(item, { stage: to, status: to === 'out' ? 'done' : 'open', claimed: false })
  }

  waiting = () => this.items.filter((item) => item.status === 'open' && !item.claimed).sort((one, other) => other.priority - one.priority)
}

/** One random operation on both, and whether they agree on it. */
async function step(t: ExecutionContext, line: Line, model: Model, pick: (below: number) => number, patch: Patch): Promise<void> {
  const key = `k${pick(12)}`
  const item = model.items[pick(model.items.length || 1)]
  const to = stages[pick(stages.length)]?.key ?? 'in'
  switch (pick(6)) {
    case 0: {
      const known = model.open(key)
      const [id = ''] = await line.add([{ key, stage: to === 'out' ? 'in' : to }])
      if (known) t.is(id, known.id)
      else model.items.push({ id, key, stage: to === 'out' ? 'in' : to, status: 'open', priority: 0, claimed: false })
      return
    }
    case 1: {
      const known = model.open(key)
      const { verdict, item: seen } = (await line.scan(key)).data
      if (!known) {
        t.is(verdict, 'created')
        model.items.push({ id: seen.id, key, stage: 'in', status: 'open', priority: 0, claimed: false })
        return
      }
      const next = stages[stages.findIndex(({ key }) => key === known.stage) + 1]?.key ?? ''
      t.is(verdict, model.accepts(known, next) ? 'moved' : 'blocked')
      if (verdict === 'moved') model.move(known, next)
      return
    }
    case 2: {
      if (!item) return
      const { status } = await line.move(item.id, to)
      t.is(status, model.accepts(item, to) ? 200 : 400, `${item.stage} to ${to}`)
      if (status === 200) model.move(item, to)
      return
    }
    case 3: {
      const expected = model.waiting()[0]
      const [claimed] = await line.claim()
      t.is(claimed?.id, expected?.id)
      if (expected) expected.claimed = true
      return
    }
    case 4: {
      if (!item) return
      const release = pick(2) === 0
      const priority = pick(5)
      const status = await patch(item.id, release ? { release } : { priority })
      t.is(status, item.status === 'open' ? 200 : 400)
      if (status === 200) Object.assign(item, release ? { claimed: false } : { priority })
      return
    }
    default: {
      if (!item || pick(4) > 0) return
      t.is(await patch(item.id, null), 204)
      model.items.splice(model.items.indexOf(item), 1)
    }
  }
}

/** Edits an item, or deletes it, and gives the status. */
type Patch = (itemId: string, body: object | null) => Promise<number>

for (const seed of [1, 2, 3]) {
  test(`model: a queue follows the rules of the model over many random operations (${seed})`, async (t) => {
    const { org } = await start()
    const line = await createLine(t, org, { stages, settings: { on_unknown_scan: 'create' } })
    const model = new Model()
    const patch: Patch = async (id, body) =>
      (await (body ? org.owner.patch(`${line.path}/items/${id}`, body) : org.owner.delete(`${line.path}/items/${id}`))).status
    const pick = random(seed)
    for (let operation = 0; operation < times(100, 300); operation++) await step(t, line, model, pick, patch)
    const { data } = await org.owner.get(`${line.path}/items?limit=200`)
    const shown = data.items.map(({ id, stage, status, priority, claimed_by }: Record<string, unknown>) => [
      id,
      stage,
      status,
      priority,
      claimed_by !== null,
    ])
    t.deepEqual(
      shown.reverse(),
      model.items.map(({ id, stage, status, priority, claimed }) => [id, stage, status, priority, claimed]),
    )
    await proven(t, org.owner, line)
  })
}

test('model: after concurrent operations, the history matches the rows and the counts', async (t) => {
  const w = await start()
  const line = await createLine(t, w.org, { stages, settings: { on_unknown_scan: 'create', lease_seconds: 1 } })
  const people = await Promise.all(Array.from({ length: 6 }, () => createMember(w, w.org, [{ effect: 'allow', actions: ['*'] }])))
  await Promise.all(
    people.map(async ({ client }, number) => {
      const pick = random(100 + number)
      for (let operation = 0; operation < times(40, 100); operation++) {
        const key = `k${pick(15)}`
        const { data } = await client.get(`${line.path}/items?key=${key}&limit=1`)
        const at = `${line.path}/items/${data.items[0]?.id ?? w.org.id}`
        const to_stage = stages[pick(4)]?.key
        const calls = [
          () => client.post(`${line.path}/items`, { keys: [key, `k${pick(15)}`], batch: `b${pick(3)}` }),
          () => client.post(`${line.path}/scan`, { key }),
          () => client.post(`${at}/move`, { to_stage }),
          () => client.post(`${line.path}/claim`, { count: 3 }),
          () => client.patch(at, { batch: `b${pick(3)}`, priority: pick(9), release: pick(2) === 0 }),
          () => (pick(5) === 0 ? client.delete(at) : client.get(`${line.path}/board`)),
        ]
        const answer = await calls[pick(calls.length)]?.()
        t.true((answer?.status ?? 0) < 500, answer?.text)
      }
    }),
  )
  await proven(t, w.org.owner, line)
})
