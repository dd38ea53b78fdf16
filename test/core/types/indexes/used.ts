import type { ExecutionContext } from 'ava'
import { storedPairName } from '#shared/core/types/indexes/count-use.ts'
import { maintainIndexes } from '#shared/core/types/indexes/maintain-indexes.ts'
import type { IndexStep } from '#shared/core/types/indexes/plan-indexes.ts'
import { createDeals } from '#test/core/records/deals.ts'
import { fillRecords } from '#test/core/records/fill.ts'
import { readIndexNames } from '#test/core/types/indexes/rows.ts'
import { type World, world } from '#test/support/world.ts'

/** A world in which indexes follow use only when the test says, at the test's time. */
export interface UsedWorld extends World {
  /** Days since the world was created. */
  readonly clock: { days: number }
  /** Writes the counted uses and lets indexes follow once, until the signal aborts. Returns the steps. */
  readonly follow: (signal?: AbortSignal) => Promise<string[]>
  /** Counts a use so many times, of a pair with the field that leads it. */
  readonly use: (field: string, use: string, times: number, lead?: string) => Promise<void>
  /** The indexes by use of the workspace's tables, with the keys of their fields; of a pair `<kind> <leading field>, <field>`. */
  readonly indexes: () => Promise<string[]>
  readonly records: string
  readonly fields: Readonly<Record<string, string>>
  readonly idOf: (field: string) => string
}

export const fieldTypes = [
  { key: 'name', type: 'string' },
  { key: 'stage', type: 'select', rules: { options: ['new', 'won', 'lost'] } },
  { key: 'price', type: 'currency' },
  { key: 'count', type: 'number' },
  { key: 'due', type: 'date' },
  { key: 'seen', type: 'datetime' },
  { key: 'open', type: 'bool' },
  { key: 'site', type: 'url' },
  { key: 'notes', type: 'text' },
  { key: 'owner_id', type: 'ref', rules: { ref_type: 'deals' } },
  { key: 'parts', type: 'refs', rules: { ref_type: 'deals' } },
]

const uuid = (n: string) => `md5((${n})::text)::uuid`

/** Values by field key for the record of number `n`; every tenth record has none. */
const values = Object.fromEntries(
  Object.entries({
    name: `'Deal number ' || n`,
    stage: `(array['new', 'won', 'lost'])[1 + n % 3]`,
    price: '(n * 7919) % 100000 / 100.0',
    count: 'n % 1000',
    due: `date '2026-01-01' + n % 3650`,
    seen: `timestamptz '2026-01-01Z' + n * interval '1 hour'`,
    open: 'n % 100 = 0',
    site: `'https://example.com/' || n`,
    notes: `'What was said about deal ' || n || repeat(' and more', n % 20)`,
    owner_id: uuid('n % 1000'),
    parts: `array[${uuid('n % 1000')}, ${uuid('n % 77')}]`,
  }).map(([key, value]) => [key, `case when n % 10 > 0 then ${value} end`]),
)

/** Creates such a world with so many records of a type `deals`, which has a field of each searchable type. */
export async function usedWorld(t: Pick<ExecutionContext, 'teardown'>, count = 12_000): Promise<UsedWorld> {
  const clock = { days: 0 }
  const made = await world({}, ['data'], () => new Date(Date.now() + clock.days * 86_400_000))
  t.teardown(made.close)
  const { records, fields } = await createDeals(made, fieldTypes)
  if (count > 0) await fillRecords(made, 'deals', count, values)
  const { services } = made.api
  const idOf = (key: string) => fields[key]?.split('/').at(-1) ?? ''
  const keyOf = (hex: string) => Object.keys(fields).find((key) => idOf(key).replaceAll('-', '') === hex) ?? hex
  return {
    ...made,
    clock,
    records,
    fields,
    idOf,
    follow: async (signal = new AbortController().signal) => {
      await services.fieldUses.flush()
      const steps = await maintainIndexes({ ...services, db: services.database }, signal)
      return steps.map(nameOf)
    },
    use: async (field, use, times, lead) => {
      const counted = storedPairName(use, lead && idOf(lead))
      for (let time = 0; time < times; time++) services.fieldUses.count(`${made.org.id} ${idOf(field)} ${counted}`)
      await services.fieldUses.flush()
    },
    indexes: async () => {
      const rows = await readIndexNames(made.db, made.org.id)
      return rows.map(({ kind, lead, field }) => `${kind} ${lead ? `${lead}, ` : ''}${keyOf(field)}`).sort()
    },
  }
}

/** The query of a search with one filter. */
export const filterBy = (field: string, op: string, value: string): string =>
  `filter=${encodeURIComponent(JSON.stringify([{ field, op, value }]))}`

const nameOf = ({ action, candidate: { field, lead, kind } }: IndexStep): string =>
  `${action} ${kind} ${lead ? `${lead.key}, ` : ''}${field.key}`
