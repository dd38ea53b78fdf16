import type { Aims, Bench, Case, Group } from '#bench/case.ts'
import { pathOf } from '#bench/cases/core/records.ts'
import { sender } from '#bench/client.ts'
import { get, type Race, race } from '#bench/race.ts'

/** What records answer beside lists of themselves: groups of the largest type, and lists that carry the records they name. */
export const answers: Group = {
  name: 'answers',
  cases: async (bench) => {
    const list = pathOf({ ...bench.loaded, key: await makeNaming(bench) })
    const plain = get(() => `${list}?limit=50`)
    const expanded = get(() => `${list}?limit=50&expand=partner.parent`)
    return [
      ...aggregates(bench),
      race(bench, {
        name: 'list of 50, expanded by two steps',
        floorIsKontor: true,
        floor: plain,
        kontor: expanded,
        aims: { ratioAtLeast: 0.4 },
      }),
    ]
  },
}

function aggregates(bench: Bench): Case[] {
  const size = bench.loaded.sizes.at(-1)
  if (!size) throw new Error('No records are loaded')
  const path = `${pathOf(size)}/aggregate?group_by=`
  const bare = get(() => `/search/${size.typeId}/counts`)
  const of = (name: string, query: string, aims: Aims, more: Partial<Race> = {}): Case => {
    const asked = get(() => `${path}${query}`)
    const given = { name: `${name}, ${size.records.toLocaleString('en')}`, floor: asked, kontor: asked, connections: 1, aims, ...more }
    return race(bench, { ...(more.floor ? {} : { floorIsKontor: true }), ...given })
  }
  return [
    of('count by stage', 'stage&metrics=count', { ratioAtLeast: 0.77, p50AtMostMs: 400 }, { floor: bare }),
    of('sum by stage', 'stage&metrics=sum:amount', { p50AtMostMs: 1_000 }),
    of('distinct by stage', 'stage&metrics=distinct:email', { p50AtMostMs: 4_000 }),
    of('count by month of a zone', 'created_at:month&metrics=count&tz=Europe/Berlin', { p50AtMostMs: 4_000 }),
  ]
}

/** Makes 50 records that name 50 others, of which each names one more. Returns the key of their type. */
async function makeNaming({ kontorUrl, loaded }: Bench): Promise<string> {
  const send = sender(kontorUrl, loaded)
  const fields = ['name', 'email', 'notes'].map((key) => ({ key, label: key, type: key === 'notes' ? 'text' : 'string' }))
  const makeType = async (key: string, names?: { field: string; type: string }) => {
    await send('POST', '/types', { key, label: key })
    for (const field of fields) await send('POST', '/fields', { entity_type: key, ...field })
    if (names) {
      const rules = { ref_type: names.type }
      await send('POST', '/fields', { entity_type: key, key: names.field, label: names.field, type: 'ref', rules })
    }
  }
  await makeType('parents')
  await makeType('partners', { field: 'parent', type: 'parents' })
  await makeType('contracts', { field: 'partner', type: 'partners' })
  for (let index = 0; index < 50; index++) {
    const values = { name: `Record ${index}`, email: 'someone@example.com', notes: 'A few words about what was said on the phone.' }
    const parent = (await send('POST', '/records/parents', { values })).id
    const partner = (await send('POST', '/records/partners', { values: { ...values, parent } })).id
    await send('POST', '/records/contracts', { values: { ...values, partner } })
  }
  return 'contracts'
}
