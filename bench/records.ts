import type { Loaded } from '#bench/data.ts'
import type { Shot } from '#bench/load.ts'

/** One thing that is measured, sent to Kontor and to the floor in turn. */
export interface Case {
  readonly name: string
  /** The share of the floor's throughput that Kontor should reach. */
  readonly aim: number
  readonly kontor: Shot
  readonly floor: Shot
  /** Set where the floor is Kontor too, asked by another caller. */
  readonly floorIsKontor?: true
}

const get = (make: (index: number) => string): Shot => ({ method: 'GET', make: (index) => ({ path: make(index) }) })
const post = (path: string, make: (index: number) => object): Shot => ({
  method: 'POST',
  make: (index) => ({ path, body: JSON.stringify(make(index)) }),
})

const deal = (index: number) => ({
  values: {
    name: `New deal ${index}`,
    stage: `stage-${index % 200}`,
    amount: 1234.5,
    due: '2026-12-24',
    email: 'someone@example.com',
    notes: 'A few words about what was said on the phone.',
  },
})

/** A record of the type that `makeLivingType` makes. */
const order = () => ({ values: { price: '12.50', count: 3, due: '2026-12-24', notes: 'A few words about what was said on the phone.' } })

/** The hot path of records: what most requests of most workspaces are. */
export function recordCases({ workspaceId, ids }: Loaded): readonly Case[] {
  const deals = `/v1/orgs/${workspaceId}/records/deals`
  const id = (index: number) => ids[index % ids.length]
  const stage = (index: number) => `stage-${index % 200}`
  const filter = (index: number) => encodeURIComponent(JSON.stringify([{ field: 'stage', op: 'eq', value: stage(index) }]))
  return [
    { name: 'get by id', aim: 0.6, kontor: get((index) => `${deals}/${id(index)}`), floor: get((index) => `/deals/${id(index)}`) },
    { name: 'list of 50', aim: 0.7, kontor: get(() => `${deals}?limit=50`), floor: get(() => '/deals') },
    {
      name: 'filter + total',
      aim: 0.7,
      kontor: get((index) => `${deals}?filter=${filter(index)}`),
      floor: get((index) => `/search?stage=${stage(index)}`),
    },
    { name: 'create', aim: 0.6, kontor: post(deals, deal), floor: post('/deals', deal) },
    { name: 'create, living', aim: 0.5, kontor: post(`/v1/orgs/${workspaceId}/records/orders`, order), floor: post('/orders', order) },
  ]
}
