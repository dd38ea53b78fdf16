import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { exact, expectedAccess, type Seen } from '#test/core/policy/expected-access.ts'
import { reads, record, typeKey, types } from '#test/core/policy/random.ts'
import { seedOf } from '#test/core/policy/seed.ts'
import { makeType, onRecords, sendAccepted } from '#test/core/policy/things.ts'
import type { Client } from '#test/support/client.ts'
import { times } from '#test/support/depth.ts'
import { numberEvents } from '#test/support/events.ts'
import { createMember, createService } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test)

/** Few roles exist before the first half of the changes, whose events therefore keep few fields. */
const [policies, early, records, changes] = [times(100, 400), 2, 6, 40]

const readAll: PolicyRule = { effect: 'allow', actions: ['records:read'] }

/** Rules of a holder; those with conditions alone seldom show anything. */
const policy = fc
  .tuple(fc.boolean(), fc.array(onRecords, { minLength: 1, maxLength: 5 }))
  .map(([all, rules]) => (all ? [readAll, ...rules] : rules))

type Values = Readonly<Record<string, unknown>>

interface RecordEvent {
  readonly type: 'records.created' | 'records.updated' | 'records.deleted'
  readonly subject: { readonly id: string }
  readonly data: { readonly before: Values | null; readonly after: Values | null }
}

/** A change as its owner reads it, with the whole record around it, and the fields whose values the event has. */
interface Change {
  readonly event: RecordEvent
  readonly before: Seen | null
  readonly after: Seen | null
  readonly known: ReadonlySet<string>
}

interface Holder {
  readonly id: string
  readonly type: 'user' | 'service'
  readonly client: Client
  readonly rules: readonly PolicyRule[]
}

const isOnThings = ({ actions, resources }: PolicyRule): boolean =>
  actions.some((name) => ['records:read', 'records:*', '*'].includes(name)) &&
  (!resources?.length || [...resources].some((key) => ['*', typeKey].includes(key)))

const testedBy = ({ condition }: PolicyRule): string[] =>
  Object.keys(condition ?? {})
    .flatMap((tested) => (tested.startsWith('resource.') ? [tested.slice('resource.'.length)] : []))
    .filter((key) => key in types)

async function makeHolders(w: World, rules: readonly (readonly PolicyRule[])[]): Promise<Holder[]> {
  return Promise.all(
    rules.map(async (policy, index) => {
      const type = index % 3 === 0 ? 'service' : 'user'
      return { ...(await { user: createMember, service: createService }[type](w, w.org, policy)), type, rules: policy } as const
    }),
  )
}

/** Creates, changes and deletes records at random. Returns them as they were when they were created. */
async function play({ org: { owner, path } }: World, samples: readonly Values[]): Promise<ReadonlyMap<string, Seen>> {
  const address = `${path}/records/${typeKey}`
  const made = new Map<string, Seen>()
  const present: string[] = []
  for (const [index, values] of samples.entries()) {
    const id = present[(index * 7) % present.length]
    if (present.length < records || id === undefined) {
      const answer = await sendAccepted((accepted) => owner.post(address, { values: accepted }), values)
      made.set(answer.data.id, exact(answer))
      present.push(answer.data.id)
    } else if (index % 11 === 10) {
      await owner.delete(`${address}/${id}`)
      present.splice(present.indexOf(id), 1)
    } else {
      const some = Object.fromEntries(Object.entries(values).filter((_, place) => (index * 5 + place) % 4 === 0))
      await sendAccepted((accepted) => owner.put(`${address}/${id}/values`, { values: accepted }), some)
    }
  }
  return made
}

/** The whole list from the beginning, with exact numbers. */
async function readEvents(w: World, client: Client): Promise<RecordEvent[]> {
  await numberEvents(w)
  const answer = await client.get(`${w.org.path}/events?types=records.*&object_type=${typeKey}&limit=500`)
  if (answer.status !== 200) throw new Error(answer.text)
  return exact(answer).events
}

/** Puts the whole records around the owner's events; `kept` are the fields that roles tested by then. */
function follow(events: readonly RecordEvent[], made: ReadonlyMap<string, Seen>, kept: (index: number) => readonly string[]): Change[] {
  const present = new Map<string, Seen>()
  return events.map((event, index) => {
    const { type, subject, data } = event
    const before = present.get(subject.id) ?? null
    const first = made.get(subject.id)
    if (!first) throw new Error(`${subject.id} was not created by the test`)
    const after = type === 'records.deleted' ? null : { ...first, values: { ...before?.values, ...data.after } }
    if (after) present.set(subject.id, after)
    const known = type === 'records.updated' ? [...Object.keys(data.after ?? {}), ...kept(index)] : Object.keys(types)
    return { event, before, after, known: new Set(known) }
  })
}

/** What the contract shows of a change (docs/contract/events.md#changes-of-records); undefined for nothing. */
function expected({ event, before, after, known }: Change, { id, type, rules }: Holder): object | undefined {
  const isUnknown = (rule: PolicyRule) => testedBy(rule).some((key) => !known.has(key))
  // What is not known makes no allow rule hold; every deny rule and every denied field does.
  const mayHide = new Set(
    rules.filter((rule) => rule.effect === 'allow' && isOnThings(rule) && isUnknown(rule)).flatMap(({ fields }) => fields?.deny ?? []),
  )
  const decisive = rules.flatMap((rule) => {
    if (!isUnknown(rule)) return [rule]
    const condition = Object.fromEntries(
      Object.entries(rule.condition ?? {}).filter(
        ([tested]) => !(tested.slice('resource.'.length) in types) || known.has(tested.slice('resource.'.length)),
      ),
    )
    return rule.effect === 'deny' ? [{ ...rule, condition }] : []
  })
  const access = expectedAccess(decisive, 'records:read', { id, type })
  const isHidden = (key: string): boolean => mayHide.has(key) || (reads[key] ?? []).some(isHidden)
  const shownOf = (one: Seen | null) => {
    if (!one || !access.allows(one)) return undefined
    const shown = access.shows(one)
    return (key: string) => shown.has(key) && !isHidden(key)
  }
  const [earlier, later] = [shownOf(before), shownOf(after)]
  if (!earlier && !later) return undefined
  const pick = (values: Values | null, shows: (key: string) => boolean) =>
    Object.fromEntries(Object.entries(values ?? {}).filter(([key]) => shows(key)))
  const tell = (data: object) => ({ ...event, data })
  if (!later) return tell({ view: 'left', before: !after && earlier ? pick(event.data.before, earlier) : null, after: null, changed: [] })
  const values = pick(event.data.after, later)
  const changed = Object.keys(values)
  if (!earlier) return tell({ view: 'entered', before: null, after: values, changed })
  if (changed.length === 0) return undefined
  return tell({ view: 'changed', before: pick(event.data.before, (key) => earlier(key) && later(key)), after: values, changed })
}

async function compare(
  t: ExecutionContext,
  w: World,
  holder: Holder,
  changes: readonly Change[],
  views: Map<string, number>,
): Promise<void> {
  const due = changes.flatMap((change) => expected(change, holder) ?? [])
  const got = await readEvents(w, holder.client)
  for (const { data } of got)
    views.set(String((data as { view?: string }).view), (views.get(String((data as { view?: string }).view)) ?? 0) + 1)
  t.is(JSON.stringify(got, null, 1), JSON.stringify(due, null, 1), JSON.stringify(holder.rules))
}

test('views property: events show exactly what the contract says, also to holders of roles that came later', async (t) => {
  const w = await shared()
  const seed = seedOf(t)
  await makeType(w)
  const sampled = fc.sample(policy, { seed, numRuns: policies })
  const values = fc.sample(record, { seed, numRuns: changes }).map((one) => one.values)
  const holders = await makeHolders(w, sampled.slice(0, early))
  const first = await play(w, values.slice(0, changes / 2))
  const turn = (await readEvents(w, w.org.owner)).length
  holders.push(...(await makeHolders(w, sampled.slice(early))))
  const second = await play(w, values.slice(changes / 2))
  const testedIn = (of: readonly (readonly PolicyRule[])[]) => of.flat().filter(isOnThings).flatMap(testedBy)
  const [ofEarly, ofAll] = [testedIn(sampled.slice(0, early)), testedIn(sampled)]
  const events = await readEvents(w, w.org.owner)
  const followed = follow(events, new Map([...first, ...second]), (index) => (index < turn ? ofEarly : ofAll))
  const views = new Map<string, number>()
  for (const holder of holders) await compare(t, w, holder, followed, views)
  t.log(`${policies} policies, ${events.length} changes: ${JSON.stringify([...views])}`)
  for (const view of ['entered', 'changed', 'left']) t.true((views.get(view) ?? 0) > policies / 5, `${view}: ${views.get(view)}`)
})
