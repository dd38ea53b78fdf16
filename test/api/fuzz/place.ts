import fc from 'fast-check'
import type { Route } from '#api/http/route.ts'
import type { Json, Names } from '#test/api/fuzz/from-schema.ts'
import { fieldTypes, namesOf } from '#test/api/fuzz/names.ts'
import { createAccount, password, resetToken } from '#test/support/account.ts'
import { createMember, createService, type Org } from '#test/support/factories.ts'
import { type Things, thingsOf } from '#test/support/things.ts'
import type { World } from '#test/support/world.ts'

/** A workspace with the things that requests to some routes can name. */
export interface Place {
  readonly org: Org
  /** The values that a request to a path can name. */
  readonly namesIn: (path: string) => Promise<Names>
  /** Tokens of the callers: mostly the owner, also a member without roles, a service account and a visitor. */
  readonly token: fc.Arbitrary<string | null>
}

const rules: Readonly<Record<string, object>> = {
  select: { options: ['a', 'b'] },
  multiselect: { options: ['a', 'b'] },
  ref: { ref_type: 'thing' },
  refs: { ref_type: 'thing' },
}

const keys = {
  type: 'thing',
  name: 'a_string',
  email: 'a_email',
  number: 'a_number',
  status: 'a_select',
  ref: 'a_ref',
  refs: 'a_refs',
}

/** Things of some features by the names of their path parameters; created for routes whose path names them. */
const rooms: Readonly<Record<string, (things: Things) => Promise<Readonly<Record<string, string>>>>> = {
  queueId: async (things) => {
    const { id: queueId } = await things.queue()
    return { queueId, itemId: (await things.queueItem(queueId)).id, stageKey: 'expected', to_stage: 'stored' }
  },
  flowId: async (things) => {
    const flowId = await things.flow()
    return { flowId, runId: await things.flowRun(flowId, 'failed') }
  },
  bucketId: async (things) => {
    const { bucketId } = await things.space()
    return { bucketId, key: await things.object(bucketId), shareId: await things.share(bucketId) }
  },
  calId: async (things) => {
    const { id: calId } = await things.calendar()
    return { calId, shareId: await things.calendarShare(calId) }
  },
  eventId: async (things) => ({ eventId: await things.calendarEvent((await things.calendar()).id) }),
  linkId: async (things) => ({ linkId: await things.link() }),
  entryId: async (things) => ({ entryId: await things.entry() }),
  siteId: async (things) => {
    const { id: siteId } = await things.site()
    return { siteId, path: await things.document(siteId) }
  },
  formId: async (things) => {
    const { id: formId } = await things.form()
    return { formId, submissionId: await things.submission(formId) }
  },
  formKey: async (things) => {
    await things.visitors()
    return { formKey: (await things.form()).key }
  },
  calendarKey: async (things) => ({ calendarKey: await things.bookingPage(), start: things.bookingTime() }),
  templateId: async (things) => ({ templateId: await things.messageTemplate() }),
  messageId: async (things) => ({ messageId: await things.message() }),
  connectionId: async (things) => ({ connectionId: await things.messageConnection() }),
}

/** Fills the workspace, mostly through the API, with the things that requests to these routes can name, and no others. */
export async function furnish(w: World, routes: readonly Route[]): Promise<Place> {
  const wanted = new Set(routes.flatMap(namesWanted))
  const inTurnIf = <T, R>(name: string, items: readonly T[], make: (item: T) => Promise<R>) => inTurn(wanted.has(name) ? items : [], make)
  const { org } = w
  const { owner, path } = org
  const things = thingsOf(w, org, 'fuzz', keys)
  await owner.post(`${path}/types`, { key: 'thing', label: 'Thing' })
  const fieldIds = await inTurn(fieldTypes, (type) =>
    things.field({ key: `a_${type}`, label: type, type, rules: rules[type] ?? {}, unique: type === 'email' }),
  )
  const records = await inTurn([0, 1, 2, 3, 4, 5, 6, 7], (index) => things.record({ a_number: index }))
  await owner.post(`${path}/modules`, { slug: 'menu', name: 'Menu' })
  const service = await createService(w, org, [{ effect: 'allow', actions: ['*'] }])
  const functionIds = await inTurnIf('fnId', [1], things.fn)
  const accounts = await inTurn([1, 2], () => createAccount(w))
  await knowPassword(w, org.ownerId)
  const { roleIds, memberIds } = await holders(w, org, things, service.id)
  const names = namesOf({
    orgId: org.id,
    fieldIds,
    records,
    ruleIds: await inTurnIf('ruleId', [1], things.rule),
    functionIds,
    runIds: await inTurnIf('runId', functionIds, things.run),
    roleIds,
    memberIds,
    serviceId: service.id,
    keyIds: await inTurnIf('keyId', [1, 2, 3], () => things.key(service.id)),
    invitationIds: await inTurnIf('invitationId', [1, 2, 3], things.invitation),
    notificationIds: await inTurnIf('notificationId', [1, 2, 3], () => things.notification(org.ownerId)),
    secrets: await inTurnIf('name', [1], things.secret),
    jobIds: await inTurnIf('jobId', [1], () => things.job(org.ownerId)),
    emails: accounts.map(({ email }) => email),
    password,
    tokens: [
      ...(await inTurnIf('token', [1, 2], things.token)),
      ...(await inTurnIf('token', [...accounts, ...accounts], ({ id }) => resetToken(w, id))),
    ],
  })
  const made = new Map<string, Promise<Readonly<Record<string, string>>>>()
  return {
    org,
    namesIn: async (path) => {
      const named = await inTurn(
        Object.entries(rooms).filter(([room]) => parametersOf(path).includes(room)),
        ([room, make]) => {
          const there = made.get(room) ?? make(things)
          made.set(room, there)
          return there
        },
      )
      const constants = named.flatMap(Object.entries<string>).map(([key, value]) => [key, fc.constant(value)])
      return { ...names, ...Object.fromEntries(constants) }
    },
    token: fc.oneof(
      { weight: 9, arbitrary: fc.constant(owner.token) },
      { weight: 2, arbitrary: fc.constant(service.client.token) },
      { weight: 1, arbitrary: fc.constantFrom(accounts[0]?.client.token ?? null, null, 'kt_no') },
    ),
  }
}

/** The names in a route's address and body. */
const namesWanted = (route: Route): string[] => [
  ...parametersOf(route.path),
  ...[route.query, 'body' in route ? route.body : undefined, 'form' in route ? route.form : undefined].flatMap((schema) =>
    schema && schema !== 'any' ? propertiesOf(schema.json as Json) : [],
  ),
]

const parametersOf = (path: string): string[] => [...path.matchAll(/[:*](\w+)/g)].map(([, name = '']) => name)

const propertiesOf = ({ properties = {}, anyOf = [], items }: Json): string[] => [
  ...Object.entries(properties).flatMap(([name, property]) => [name, ...propertiesOf(property)]),
  ...[...anyOf, ...(items ? [items] : [])].flatMap(propertiesOf),
]

/** Roles that members and the service account hold. */
async function holders(w: World, org: Org, things: Things, serviceId: string) {
  const members = await inTurn([1, 2], () => createMember(w, org, []))
  const roleIds = await inTurn([1, 2], () => things.role([{ effect: 'allow', actions: ['records:read'] }]))
  for (const role of roleIds) for (const id of [...members.map((member) => member.id), serviceId]) await things.hold(role, id)
  return { roleIds, memberIds: members.map(({ id }) => id) }
}

const knowPassword = ({ db }: World, userId: string) =>
  db.query(`update users set password_hash = (select password_hash from users where password_hash <> 'none' limit 1) where id = $1`, [
    userId,
  ])

/** One after the other, so that things are created in the same order. */
async function inTurn<T, R>(items: readonly T[], make: (item: T) => Promise<R>): Promise<R[]> {
  const all: R[] = []
  for (const item of items) all.push(await make(item))
  return all
}
