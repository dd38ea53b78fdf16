import type { Aims, Bench, Case, Group } from '#bench/case.ts'
import type { Pipeline } from '#bench/data/pipeline.ts'
import { get, nth, type Race, race, send } from '#bench/race.ts'

/** The hot path of records, at every size. Reads come first, because writes make types grow. */
export const records: Group = {
  name: 'records',
  cases: (bench) => {
    const { sizes } = bench.loaded
    return [...sizes.flatMap((size) => reads(bench, size)), ...sizes.flatMap((size) => writes(bench, size))]
  },
}

const searchAims: Aims = { ratioAtLeast: 0.8 }
/** Time limit where an index serves the search. */
const indexedAims: Aims = { ...searchAims, p50AtMostMs: 30 }

function reads(bench: Bench, size: Pipeline): Case[] {
  const kontor = pathOf(size)
  const floor = `/records/${size.typeId}`
  const search = (name: string, query: string, value: (index: number) => string, kontorQuery: (index: number) => string, aims: Aims) =>
    at(bench, size, {
      name: `search by ${name}`,
      aims,
      floor: get((index) => `/search/${size.typeId}/${query}?value=${encodeURIComponent(value(index))}`),
      kontor: get((index) => `${kontor}?${kontorQuery(index)}`),
    })
  const stage = (index: number) => `stage-${index % 200}`
  const span = (index: number) => [(index * 37) % 990, ((index * 37) % 990) + 10].map(String) as [string, string]
  const quarter = (index: number) => [(index * 37) % 740, ((index * 37) % 740) + 250].map(String) as [string, string]
  const word = (index: number) => `deal ${1 + ((index * 7_919) % size.records)}`
  const anyOf = (index: number) => `${stage(index)} ${index % 1_000} 2026-0${1 + (index % 9)}-01`
  return [
    at(bench, size, {
      name: 'get',
      aims: { ratioAtLeast: 0.7 },
      floor: get((index) => `${floor}/${nth(size.ids, index)}`),
      kontor: get((index) => `${kontor}/${nth(size.ids, index)}`),
    }),
    at(bench, size, { name: 'list of 50', aims: { ratioAtLeast: 0.8 }, floor: get(() => floor), kontor: get(() => `${kontor}?limit=50`) }),
    search('filter', 'filter', stage, (index) => filters(['stage', 'eq', stage(index)]), indexedAims),
    search(
      'range',
      'range',
      (index) => span(index).join(' '),
      (index) => filters(['amount', 'gte', span(index)[0]], ['amount', 'lt', span(index)[1]]),
      searchAims,
    ),
    // An eighth of the records match, and each search counts and sorts them.
    search(
      'two fields, sorted',
      'wide',
      (index) => quarter(index).join(' '),
      (index) =>
        `${filters(['amount', 'gte', quarter(index)[0]], ['amount', 'lt', quarter(index)[1]], ['due', 'gte', '2026-07-01'])}&sort=amount&dir=desc`,
      { ratioAtLeast: 0.85 },
    ),
    search('any of three fields', 'any', anyOf, (index) => anyFilter(anyOf(index)), searchAims),
    search('q', 'q', word, (index) => `q=${encodeURIComponent(word(index))}`, searchAims),
    search('nothing, sorted', 'sort', String, () => 'sort=due&dir=asc', searchAims),
    search('nothing, total', 'total', String, () => 'page=1', searchAims),
  ]
}

function writes(bench: Bench, size: Pipeline): Case[] {
  const [kontor, floor] = [pathOf(size), `/records/${size.typeId}`]
  const change = (index: number) => ({ values: { stage: `stage-${index % 199}`, amount: String(index % 1_000) } })
  return [
    at(bench, size, {
      name: 'update',
      aims: { ratioAtLeast: 0.65 },
      floor: send('PUT', (index) => `${floor}/${nth(size.ids, index)}`, change),
      kontor: send('PUT', (index) => `${kontor}/${nth(size.ids, index)}/values`, change),
    }),
    at(bench, size, {
      name: 'create',
      aims: { ratioAtLeast: 0.65 },
      floor: send('POST', () => floor, deal),
      kontor: send('POST', () => kontor, deal),
    }),
  ]
}

/** The path of a type's records. */
export const pathOf = ({ workspaceId, key }: Pick<Pipeline, 'workspaceId' | 'key'>): string => `/v1/orgs/${workspaceId}/records/${key}`

/** The request body of the nth new record. A search finds as many of the new records as of the loaded ones (data/pipeline.ts). */
export const deal = (index: number) => ({
  values: {
    name: `New deal ${index}`,
    stage: `stage-${index % 200}`,
    amount: ((index * 7_919) % 100_000) / 100,
    due: new Date(Date.UTC(2026, 0, 1 + (index % 365))).toISOString().slice(0, 10),
    email: 'someone@example.com',
    notes: 'A few words about what was said on the phone.',
  },
})

/** The query that filters by fields. */
export const filters = (...given: readonly (readonly [field: string, op: string, value: string])[]): string =>
  `filter=${encodeURIComponent(JSON.stringify(given.map(([field, op, value]) => ({ field, op, value }))))}`

/** The query that asks for one of three values, separated by blanks. */
function anyFilter(text: string): string {
  const any = text.split(' ').map((value, index) => ({ field: ['stage', 'amount', 'due'][index], op: 'eq', value }))
  return `filter=${encodeURIComponent(JSON.stringify({ any }))}`
}

const at = (bench: Bench, { records }: Pipeline, given: Race): Case =>
  race(bench, { ...given, name: `${given.name}, ${records.toLocaleString('en')}` })
