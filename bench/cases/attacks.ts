import { attacked, type Press } from '#bench/attacked.ts'
import type { Bench, Case } from '#bench/case.ts'
import { booking, slotsPath } from '#bench/cases/booking.ts'
import { pathIn, type Send, sender } from '#bench/client.ts'
import { byHand, makeFlow } from '#bench/data/flow.ts'
import { makeFunction, trivial } from '#bench/functions/make.ts'
import { fromAnywhere, startProxiedApi } from '#bench/servers/proxied-api.ts'

/** The setup of an attack, which returns its start. */
interface Attack {
  readonly name: string
  /** How long the attack runs before the other workspace calls for the first time; 0 by default. */
  readonly arrivesAfterMs?: number
  readonly prepare: (send: Send, workspaceId: string) => Promise<(press: Press) => void>
}

const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index))

/**
 * Another workspace during attacks by visitors (docs/contract/limits.md#shares-of-workspaces), compared with the same workspace without
 * them.
 */
export async function attackCases(bench: Bench): Promise<Case[]> {
  const { loaded } = bench
  const [attacker, victim] = [loaded.neighbours.at(-2) ?? loaded.neighbours[0], loaded.neighbours.at(-3) ?? loaded.neighbours[0]]
  const api = await startProxiedApi(bench)
  const own = sender(api.url, { ...loaded, workspaceId: victim.workspaceId })
  const ownFunction = await makeFunction(own, trivial)
  const probes: readonly (readonly [string, string, object?])[] = [
    ['GET', `/records/${victim.key}/${victim.ids[0]}`],
    ['POST', `/records/${victim.key}`, { values: { name: 'Beside an attack' } }],
    ['POST', `${ownFunction}/invoke`, {}],
  ]
  const victimOf = { url: api.url, token: loaded.token, workspaceId: victim.workspaceId, probes }
  const send = sender(api.url, { ...loaded, workspaceId: attacker.workspaceId })
  return attacksOn(api.url, loaded.token).map(({ name, arrivesAfterMs, prepare }) => {
    let begin: ReturnType<typeof prepare> | undefined
    const prepared = () => {
      begin ??= prepare(send, attacker.workspaceId)
      return begin
    }
    return {
      name: `beside ${name}`,
      unit: 'requests/s',
      rounds: 1,
      compares: 'p50Ms',
      floor: async () => {
        await prepared()
        return attacked(victimOf, 5, () => undefined)
      },
      kontor: async () => attacked(victimOf, 12, await prepared(), arrivesAfterMs),
      aims: { ratioAtMost: 2, slowestAtMostMs: 2_000, failedAtMost: 0, healthAtMostMs: 1_000 },
    } satisfies Case
  })
}

function attacksOn(url: string, token: string): readonly Attack[] {
  const visit = (path: string, index: number) => fetch(url + path, { headers: fromAnywhere(index) }).then(drop)
  const lists = (length: number, query: string) => async (send: Send, workspaceId: string) => {
    const path = pathIn({ workspaceId }, `${await makeLongRecords(send, length)}?${query}`)
    return (press: Press) => press(6, () => fetch(url + path, { headers: { authorization: `Bearer ${token}` } }).then(drop))
  }
  return [
    {
      name: 'free times of 60 series',
      prepare: async (send, workspaceId) => {
        const made = { kind: 'org', name: 'Dense', key: `dense-${Date.now()}`, timezone: 'UTC', settings: { booking } }
        const calendar = await send<{ id: string; key: string }>('POST', '/calendar/calendars', made)
        await fetch(`${url}/v1/orgs/${workspaceId}/calendar/calendars/${calendar.id}/import`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'text/calendar' },
          body: denseSeries(),
        }).then(drop)
        const slots = slotsPath(workspaceId, calendar.key)
        return (press) => press(6, (index) => visit(slots, index))
      },
    },
    {
      name: 'filters of 20,000 × 100',
      prepare: async (send) => {
        const clauses = many(100, (index) => ({ left: '{{item}}', op: 'ne', right: `never ${index}` }))
        const config = { list: JSON.stringify(many(20_000, () => 1)), clauses }
        const path = await makeFlow(send, [byHand, ...many(4, () => ({ type: 'logic.filter', config }))])
        await send('POST', `${path}/run`, {})
        return (press) => {
          press(2, () => send('POST', `${path}/run`, {}).then(rest))
          press(2, () => send('POST', `${path}/rehearse`, { runs: 5 }).then(rest))
        }
      },
    },
    {
      name: 'a slow atomic batch',
      prepare: async (send) => {
        const { key, ids } = await computing(send, 'slow', slowFormula, 500)
        const operations = () => ids.map((id, index) => ({ op: 'update', id, values: { source: `${Date.now()} ${index}` } }))
        return (press) => {
          press(1, () => send('POST', `/records/${key}/batch`, { atomic: true, operations: operations() }))
          press(30, (index) => send('PUT', `/records/${key}/${ids[index % ids.length]}/values`, { values: { source: `${index}` } }))
        }
      },
    },
    {
      name: '24 searches of long texts',
      prepare: async (send) => {
        const { key } = await computing(send, 'long', `REPT("abcdefghij ", 8600) & source`, 200)
        const filter = JSON.stringify(
          many(50, (index) => ({ field: 'computed', op: 'contains', value: `record ${index % 2 ? '' : 'no'}` })),
        )
        const path = `/records/${key}?limit=1&filter=${encodeURIComponent(filter)}`
        return (press) => press(24, () => send('GET', path))
      },
    },
    {
      name: 'large lists',
      prepare: async (send) => {
        const list = JSON.stringify(many(100_000, () => 1))
        for (let flow = 0; flow < 120; flow++) await makeFlow(send, [byHand, { type: 'logic.reduce', config: { list, op: 'sum' } }])
        const text = 'x'.repeat(200_000)
        for (let index = 0; index < 200; index++)
          await send('POST', '/messages/templates', { name: `Large ${index}`, subject: 'Large', body_text: text, body_html: text })
        return (press) => {
          press(4, () => send('GET', '/flows'))
          press(2, () => send('GET', '/messages/templates'))
        }
      },
    },
    {
      name: 'the largest form',
      prepare: async (send, workspaceId) => {
        const paths = await makeLargestForm(send, workspaceId)
        return (press) => press(40, (index) => visit(paths[index % 2] as string, index))
      },
    },
    { name: 'lists of 3.9 MB', prepare: lists(19_500, 'limit=200') },
    { name: 'lists of 3.9 MB, arriving later', arrivesAfterMs: 2_000, prepare: lists(19_500, 'limit=200') },
    { name: 'lists that are too large', prepare: lists(60_000, 'limit=200&sort=created_at') },
  ]
}

/** A published form with the most options that one may have, of signs that HTML escapes; its page and its JSON. */
async function makeLargestForm(send: Send, workspaceId: string): Promise<readonly [page: string, definition: string]> {
  const key = `largest-${Date.now()}`
  const policy = [{ effect: 'allow', actions: ['forms:read'], resources: [key] }]
  await send('POST', '/iam/groups', { name: key, policy, is_anonymous: true })
  const options = many(500, (index) => `${index}`.padEnd(200, '"'))
  const fields = many(4, (index) => ({ key: `choice_${index}`, label: 'Choice', type: 'select', options }))
  await send('POST', '/forms', { key, name: 'Largest', published: true, fields })
  return [`/f/${workspaceId}/${key}`, `/forms/${workspaceId}/${key}`]
}

/** The path of a type with 200 records, each with a text of this many characters. */
async function makeLongRecords(send: Send, length: number): Promise<string> {
  const key = `long_${length}_${Date.now()}`
  await send('POST', '/types', { key, label: 'Long' })
  await send('POST', '/fields', { entity_type: key, key: 'body', label: 'Body', type: 'text' })
  const operations = many(10, () => ({ op: 'create', values: { body: 'x'.repeat(length) } }))
  for (let batch = 0; batch < 20; batch++) await send('POST', `/records/${key}/batch`, { atomic: true, operations })
  return `/records/${key}`
}

const drop = async (answer: Response): Promise<void> => void (await answer.arrayBuffer())

/** Pauses for 200 ms, since runs would otherwise be enqueued faster than they are executed. */
const rest = () => new Promise((resolve) => setTimeout(resolve, 200))

/** 60 series with one occurrence per hour each. */
function denseSeries(): string {
  const hours = many(24, String).join()
  const events = many(60, (minute) => [
    'BEGIN:VEVENT',
    `UID:dense-${minute}-${Date.now()}@bench`,
    'DTSTAMP:20260101T000000Z',
    `DTSTART:20260101T00${String(minute).padStart(2, '0')}00Z`,
    'DURATION:PT1M',
    `RRULE:FREQ=DAILY;BYHOUR=${hours};BYMINUTE=${minute}`,
    'SUMMARY:Dense',
    'END:VEVENT',
  ])
  return ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//bench//EN', ...events.flat(), 'END:VCALENDAR', ''].join('\r\n')
}

/** Takes some 30 ms of processor time. */
const slowFormula = `LEN(${'SUBSTITUTE('.repeat(12)}REPT("a", 90000)${', "a", "b")'.repeat(12)}) & source`

/** A type with a formula over a text field, and this many records. */
async function computing(
  send: Send,
  name: string,
  formula: string,
  records: number,
): Promise<{ readonly key: string; readonly ids: string[] }> {
  const key = `${name}_${Date.now()}`
  await send('POST', '/types', { key, label: name })
  await send('POST', '/fields', { entity_type: key, key: 'source', label: 'Source', type: 'string' })
  const { id } = await send('POST', '/fields', { entity_type: key, key: 'computed', label: 'Computed', type: 'text' })
  await send('PUT', `/fields/${id}/formula`, { formula })
  const ids: string[] = []
  while (ids.length < records) {
    const operations = many(Math.min(25, records - ids.length), (index) => ({ op: 'create', values: { source: `record no ${index}` } }))
    const path = `/records/${key}/batch`
    const { results } = await send<{ results: { record: { id: string } }[] }>('POST', path, { operations, atomic: true })
    ids.push(...results.map(({ record }) => record.id))
  }
  return { key, ids }
}
