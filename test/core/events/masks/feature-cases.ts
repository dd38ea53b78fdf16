import { type EventCase, needleOf, ofWorkspace, type Resource, type Rights } from '#test/core/events/masks/cases.ts'
import type { Seen } from '#test/core/events/reading.ts'
import { spaceOf } from '#test/features/drive/support.ts'
import { chain } from '#test/features/flows/support.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { eventually } from '#test/support/eventually.ts'
import { made } from '#test/support/made.ts'

/** Each level of access to a calendar includes those before it. A deny rule refuses its own level: who is denied to read sees times alone. */
const levels = ['calendar:read', 'calendar:write', 'calendar:manage'] as const
const seesCalendar = ({ holds }: Rights, key: Resource): boolean => levels.some((permission) => holds(permission, key))

/** A calendar event without its details. */
const timesOf = (event: Seen): Seen => ({
  ...event,
  actor: { id: null, type: 'system' },
  cause: { kind: 'system', id: null },
  data: { start: event.data.start, end: event.data.end, all_day: event.data.all_day },
})

/** Cases of features. */
export const featureCases: readonly EventCase[] = [
  {
    types: ['queues.item.added', 'queues.item.claimed', 'queues.item.moved', 'queues.item.closed'],
    showsTexts: true,
    happen: async (scene) => {
      const { org, things } = scene
      const { owner, path } = org
      const queue = await things.queue()
      const item = await things.queueItem(queue.id)
      const { claim_token } = (await owner.post(`${path}/queues/${queue.id}/claim`, {})).data.items[0]
      await made(owner.post(`${path}/queues/${queue.id}/items/${item.id}/move`, { to_stage: 'stored', note: scene.secret, claim_token }))
      let isThere = true
      return {
        permission: 'queues:read',
        resource: queue.key,
        isReadBy: (_, { holds }) => holds('queues:read', isThere ? queue.key : undefined),
        remove: async () => {
          await made(owner.delete(`${path}/queues/${queue.id}`))
          await scene.world.drain()
          isThere = false
        },
      }
    },
  },
  {
    types: ['drive.object.created', 'drive.object.replaced', 'drive.object.moved', 'drive.object.deleted'],
    showsTexts: true,
    happen: async (scene) => {
      const { org, things, secret } = scene
      const { key, bucketId } = await things.space()
      const space = spaceOf(org.owner, org, bucketId)
      await made(space.put(`a/${secret}`, secret))
      await made(space.put(`a/${secret}`, `${secret} again`))
      await made(space.move(`a/${secret}`, `b/${secret}`))
      await made(space.remove(`b/${secret}`))
      return { permission: 'drive:read', resource: key, isReadBy: (_, { holds }) => holds('drive:read', key) }
    },
  },
  {
    types: ['calendar.event.created', 'calendar.event.updated', 'calendar.event.answered', 'calendar.event.cancelled', 'calendar.booked'],
    showsTexts: true,
    happen: async (scene) => {
      const { world, org, things, secret } = scene
      const { owner, path } = org
      const calendar = await things.calendar()
      const words = {
        description: secret,
        location: secret,
        attendees: [{ user_id: org.ownerId }, { email: `guest-${needleOf(scene)}@example.com`, name: secret }],
      }
      const event = await things.calendarEvent(calendar.id, words)
      await made(owner.post(`${path}/calendar/events/${event}/rsvp`, { status: 'tentative' }))
      await made(owner.patch(`${path}/calendar/events/${event}`, { title: `${secret} again` }))
      await made(owner.delete(`${path}/calendar/events/${event}`))
      const page = await things.bookingPage()
      const wish = { start: things.bookingTime(), name: secret, email: `books-${needleOf(scene)}@example.com`, notes: secret }
      await made(world.visitor.post(`/cal/${org.id}/book/${page}`, wish, fromAnywhere()))
      await world.drain()
      const calendars: { id: string; key: string }[] = (await owner.get(`${path}/calendar/calendars`)).data
      const keys = new Map(calendars.map(({ id, key }) => [id, key]))
      return {
        permission: 'calendar:read',
        resource: calendar.key,
        isReadBy: ({ subject }, rights) => seesCalendar(rights, keys.get(subject.calendar ?? '')),
        shownTo: (event, { isDenied }) => (isDenied('calendar:read', keys.get(event.subject.calendar ?? '')) ? timesOf(event) : event),
        remove: () => made(owner.delete(`${path}/calendar/calendars/${calendar.id}`)),
      }
    },
  },
  {
    types: ['messages.sent', 'messages.failed', 'messages.bounced'],
    happen: async (scene) => {
      const { world, org, mail, secret } = scene
      const { owner, path } = org
      const connection = await made(
        owner.post(`${path}/messages/connections`, { name: secret, host: '127.0.0.1', port: mail.port, from: 'Shop <shop@example.com>' }),
      )
      const source = 'const handler = (message) => sdk.messages.send(message)'
      const { id } = await made(owner.post(`${path}/functions`, { name: secret, source }))
      for (const [to, refusal] of [
        ['sent', null],
        ['failed', { code: 554, text: `5.7.1 ${secret}` }],
        ['bounced', { code: 550, text: `5.1.1 ${secret}` }],
      ] as const) {
        mail.refuse(refusal)
        const message = { connection_id: connection.id, to: `${to}-${needleOf(scene)}@example.com`, subject: secret, body_text: secret }
        await made(owner.post(`${path}/functions/${id}/invoke`, { input: message }))
        await world.drain()
      }
      mail.refuse(null)
      return ofWorkspace('messages:manage')
    },
  },
  {
    types: ['flows.run.finished', 'flows.run.failed'],
    happen: async ({ world, org: { owner, path }, keys, secret }) => {
      const create = { object_type: keys.type, values: { [keys.name]: secret } }
      const steps = [
        ['n', 'action.create_record', create],
        ['f', 'action.delete_record', { object_type: keys.type, record_id: secret }],
      ] as const
      const flows: string[] = []
      for (const step of steps) {
        const { id } = await made(owner.post(`${path}/flows`, { name: secret, ...chain(['t', 'trigger.manual'], step) }))
        await made(owner.post(`${path}/flows/${id}/run`, { input: secret }))
        flows.push(id)
      }
      await world.drain()
      return {
        permission: 'flows:read',
        resource: flows[0] ?? '',
        isReadBy: ({ subject }, { holds }) => holds('flows:read', subject.flow),
        remove: () => made(owner.delete(`${path}/flows/${flows[0]}`)),
      }
    },
  },
  {
    types: ['types.changed'],
    happen: async ({ org: { owner, path }, things, secret }) => {
      const key = await things.type()
      await made(owner.post(`${path}/fields`, { entity_type: key, key: 'one', label: secret, type: 'string' }))
      return {
        permission: 'types:read',
        resource: key,
        isReadBy: ({ subject }, { holds }) => holds('types:read', subject.object_type),
        shownTo: (event, { holds }) =>
          holds('fields:read', event.subject.object_type) ? event : { ...event, data: { ...event.data, fields: null } },
        remove: () => made(owner.delete(`${path}/types/${key}`)),
      }
    },
  },
  {
    types: ['jobs.failed'],
    happen: async ({ org: { owner, path }, keys, secret }) => {
      const operations = [{ op: 'create', values: { [keys.number]: secret } }]
      const answer = await owner.post(`${path}/records/${keys.type}/batch`, { operations, atomic: true }, { prefer: 'respond-async' })
      await eventually(async () => (await owner.get(`${path}/jobs/${answer.data.job_id}`)).data.status === 'failed')
      return {
        permission: 'org:update',
        isReadBy: ({ actor }, { holds, callerId }) => actor.id === callerId || holds('org:update', null),
      }
    },
  },
]
