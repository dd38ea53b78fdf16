import test, { type ExecutionContext } from 'ava'
import { schema } from '#shared/platform/kernel/schema.ts'
import { type CallerKind, callerKinds, rightsOf } from '#test/core/events/masks/callers.ts'
import { type EventCase, type EventsMade, firstCases, needleOf } from '#test/core/events/masks/cases.ts'
import { featureCases } from '#test/core/events/masks/feature-cases.ts'
import { readAll, type Seen } from '#test/core/events/reading.ts'
import { shareMailServer } from '#test/platform/mail/smtp.ts'
import type { Client } from '#test/support/client.ts'
import { createMember, createOrg, createService } from '#test/support/factories.ts'
import { listening } from '#test/support/listening.ts'
import { once } from '#test/support/once.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { settle } from '#test/support/things.ts'
import type { World } from '#test/support/world.ts'

const mailServer = shareMailServer(test, 'mail server of every type')
const environment = async () => ({
  ...(await listening()),
  EGRESS_ALLOW: `127.0.0.1:${(await mailServer()).port}`,
  TRUST_PROXY: '1',
  LOG_LEVEL: 'silent',
})
const newWorkspace = shareWorld(test, environment)

/** One case for each type of events. */
const eventCases: readonly EventCase[] = [...firstCases, ...featureCases]

/** A workspace in which events of every type have happened. */
const full = once(async () => {
  const w = await newWorkspace()
  const place = { ...(await settle(w, w.org)), mail: await mailServer() }
  const done: { readonly one: EventCase; readonly made: EventsMade }[] = []
  for (const one of eventCases) done.push({ one, made: await one.happen(place) })
  const ofType = new Map(done.flatMap(({ one, made }) => one.types.map((type) => [type, made] as const)))
  return { w, place, done, ofType }
})

/** Types whose events hold no text of a person. */
const silent = new Set(eventCases.flatMap(({ types, showsTexts }) => (showsTexts ? [] : types)))

type Full = Awaited<ReturnType<typeof full>>

test('every type: each type of events has a case, and each case a type', async (t) => {
  const w = await newWorkspace()
  const types: { type: string }[] = (await w.org.owner.get(`${w.org.path}/events/types`)).data
  t.deepEqual(eventCases.flatMap((one) => one.types).toSorted(), types.map(({ type }) => type).toSorted())
})

test('every type: events have the form of their type, and hold no name, text, address or error', async (t) => {
  const { w, place, ofType } = await full()
  const events = await readAll(w, w.org.owner)
  t.deepEqual(
    [...ofType.keys()].filter((type) => !events.some((event) => event.type === type)),
    [],
    'types of which nothing happened',
  )
  const types: { type: string; schema: object }[] = (await w.org.owner.get(`${w.org.path}/events/types`)).data
  const schemas = new Map(types.map(({ type, schema: json }) => [type, closed(json)]))
  for (const event of events) {
    t.notThrows(() => schema(schemas.get(event.type) as never).parse(event), `${event.type} ${JSON.stringify(event)}`)
    if (silent.has(event.type)) t.false(JSON.stringify(event).includes(needleOf(place)), JSON.stringify(event))
  }
})

/** The same schema, in which no object has other keys than those named. */
function closed(json: unknown): object {
  if (Array.isArray(json)) return json.map(closed)
  if (typeof json !== 'object' || json === null) return json as never
  const part = Object.fromEntries(Object.entries(json).map(([key, value]) => [key, closed(value)]))
  return 'properties' in part && !('additionalProperties' in part) ? { ...part, additionalProperties: false } : part
}

test('every type: events of an app that is off are shown to nobody until it is on again', async (t) => {
  const { w } = await full()
  const { owner, path } = w.org
  const before = await readAll(w, owner)
  const prefixes = { queues: 'queues.', calendar: 'calendar.', functions: 'functions.', payments: 'payments.', accounting: 'ledger.' }
  for (const [app, prefix] of Object.entries(prefixes)) {
    t.is((await owner.patch(path, { apps: { [app]: false } })).status, 200)
    const others = before.filter(({ type }) => !type.startsWith(prefix))
    t.true(others.length < before.length, app)
    t.deepEqual(await readAll(w, owner), others, app)
    t.is((await owner.patch(path, { apps: { [app]: true } })).status, 200)
  }
  t.deepEqual(await readAll(w, owner), before)
})

test('every type: each kind of caller reads exactly what its rights of now show, also once the things are gone', async (t) => {
  const { w, place, done, ofType } = await full()
  const needs = new Map(done.map(({ made }) => [made.permission, made]))
  const kinds = [...needs.values()].flatMap(({ permission, resource }) => callerKinds(permission, resource))
  const callers = await Promise.all(
    kinds.map(async (kind) => ({ kind, ...(await { user: createMember, service: createService }[kind.type](w, w.org, kind.rules)) })),
  )
  const compareAll = async (some: typeof callers) => {
    const all = await readAll(w, w.org.owner)
    let read = 0
    for (const { kind, id, client } of some)
      read += await compare(t, w, { kind, callerId: id, client, all, ofType, needle: needleOf(place) })
    return read
  }
  t.log(`${callers.length} callers read ${await compareAll(callers)} events`)
  const removed = new Set<string>()
  for (const { made } of done) {
    if (!made.remove) continue
    await made.remove()
    removed.add(made.permission)
  }
  const concerned = callers.filter(({ kind }) => removed.has(kind.permission))
  t.log(`${concerned.length} callers read ${await compareAll(concerned)} events once things are gone`)
})

interface Comparison extends Pick<Full, 'ofType'> {
  readonly kind: CallerKind
  readonly callerId: string
  readonly client: Client
  readonly all: readonly Seen[]
  readonly needle: string
}

async function compare(t: ExecutionContext, w: World, { kind, callerId, client, all, ofType, needle }: Comparison): Promise<number> {
  const rights = rightsOf(kind, callerId)
  const due = all.flatMap((event) => {
    const made = ofType.get(event.type)
    return made?.isReadBy(event, rights) ? [made.shownTo?.(event, rights) ?? event] : []
  })
  const got = await readAll(w, client)
  t.deepEqual(got, due, kind.name)
  const text = JSON.stringify(got)
  if (due.every(({ type }) => silent.has(type))) t.false(text.includes(needle), kind.name)
  const absent = [...ofType.keys()].filter((type) => !due.some((event) => event.type === type))
  if (absent.length > 0) t.deepEqual((await client.get(`${w.org.path}/events?types=${absent}`)).data.events, [], kind.name)
  return got.length
}

test('every type: visitors, other workspaces, and callers whose rights have ended read nothing', async (t) => {
  const { w, place } = await full()
  const { org } = w
  const events = `${org.path}/events`
  const everything = [{ effect: 'allow', actions: ['*'] }]
  const refused = async (client: Client, status: number, name: string) => {
    for (const path of [events, `${events}?after=0`, `${events}?types=records.*`, `${events}/types`]) {
      const answer = await client.get(path)
      t.is(answer.status, status, `${name} ${path}`)
      for (const word of [needleOf(place), place.mark, org.ownerId]) t.false(answer.text.includes(word), `${name} ${path} ${answer.text}`)
    }
  }
  const other = await createOrg(w)
  await refused(w.visitor, 401, 'a visitor')
  await refused(w.visitor.as('kt_unknown'), 401, 'an unknown key')
  await refused(other.owner, 404, 'the owner of another workspace')
  await refused((await createService(w, other, everything)).client, 404, 'a key of another workspace')
  const role = (await org.owner.post(`${org.path}/iam/groups`, { name: place.secret, policy: everything })).data.id
  const [former, leaving, robot] = [
    await createMember(w, org),
    await createMember(w, org, everything),
    await createService(w, org, everything),
  ]
  await place.things.hold(role, former.id)
  for (const { client } of [former, leaving, robot]) t.true((await readAll(w, client)).length > 5)
  t.is((await org.owner.delete(`${org.path}/iam/groups/${role}/members/${former.id}`)).status, 204)
  t.deepEqual(await readAll(w, former.client), [])
  t.is((await org.owner.delete(`${org.path}/members/${leaving.id}`)).status, 204)
  await refused(leaving.client, 404, 'a former member')
  const keys: { id: string }[] = (await org.owner.get(`${org.path}/service-accounts/${robot.id}/keys`)).data
  for (const { id } of keys) t.is((await org.owner.delete(`${org.path}/service-accounts/${robot.id}/keys/${id}`)).status, 204)
  await refused(robot.client, 401, 'an ended key')
})
