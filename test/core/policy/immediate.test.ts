import test from 'ava'
import { changeWorkspaceStatus } from '#shared/core/workspaces/store.ts'
import { firstRow } from '#shared/platform/db/database.ts'
import { startApiProcess } from '#test/support/api-process.ts'
import type { Client } from '#test/support/client.ts'
import { times } from '#test/support/depth.ts'
import { createMember, createPerson, createService } from '#test/support/factories.ts'
import { addMember } from '#test/support/rows.ts'
import { startSecondApi } from '#test/support/second-api.ts'
import type { Answer } from '#test/support/send-request.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { type World, world } from '#test/support/world.ts'

/**
 * Access that one process takes away is refused on the next request to another process with warm caches, and access that is given back is
 * accepted. No time passes in between. The first request after the change reads in one round and writes in the next.
 */
const rounds = times(10, 50)

/** One round: two requests to the other process that succeed until `take` is called, and again after `give`. */
interface Round {
  readonly look: () => Promise<Answer>
  readonly write: () => Promise<Answer>
  readonly take: () => Promise<unknown>
  readonly give?: () => Promise<unknown>
}

/** Access that can be taken away: the code of the refusal, and how rounds are made in a workspace. */
interface Case {
  readonly refusal: string
  readonly prepare: (w: World, other: Client) => Promise<() => Promise<Round>>
}

const allow = (...actions: string[]) => ({ effect: 'allow', actions })
const policy = [allow('types:read', 'org:update')]

/** Reads types and writes a menu group. */
const asks = (client: Client, { org: { path } }: World) => ({
  look: () => client.get(`${path}/types`),
  write: () => client.post(`${path}/modules`, { slug: 'a', name: 'A' }),
})

/** Makes a role through the API and assigns it. */
async function heldRole({ org: { owner, path } }: World, userId: string): Promise<string> {
  const { data } = await owner.post(`${path}/iam/groups`, { name: 'Role', policy })
  await owner.post(`${path}/iam/groups/${data.id}/members`, { user_id: userId })
  return `${path}/iam/groups/${data.id}`
}

const cases: Readonly<Record<string, Case>> = {
  'a changed role': {
    refusal: 'FORBIDDEN',
    prepare: async (w, other) => {
      const { id, client } = await createMember(w, w.org)
      const role = await heldRole(w, id)
      return async () => ({
        ...asks(other.as(client.token), w),
        take: () => w.org.owner.put(role, { name: 'Role', policy: [allow('records:read')] }),
        give: () => w.org.owner.put(role, { name: 'Role', policy }),
      })
    },
  },
  'a removed role member': {
    refusal: 'FORBIDDEN',
    prepare: async (w, other) => {
      const { id, client } = await createService(w, w.org)
      const role = await heldRole(w, id)
      return async () => ({
        ...asks(other.as(client.token), w),
        take: () => w.org.owner.delete(`${role}/members/${id}`),
        give: () => w.org.owner.post(`${role}/members`, { user_id: id }),
      })
    },
  },
  'a removed workspace member': {
    refusal: 'NOT_FOUND',
    prepare: async (w, other) => {
      const { id, client } = await createMember(w, w.org)
      const there = other.as(client.token)
      return async () => ({
        look: () => there.get(w.org.path),
        write: () => there.post(`${w.org.path}/notifications/read-all`),
        take: () => w.org.owner.delete(`${w.org.path}/members/${id}`),
        give: () => addMember(w.db, w.org.id, id),
      })
    },
  },
  'a revoked key': {
    refusal: 'UNAUTHORIZED',
    prepare: async (w, other) => {
      const { id } = await createService(w, w.org, policy)
      const keys = `${w.org.path}/service-accounts/${id}/keys`
      return async () => {
        const { data } = await w.org.owner.post(keys, {})
        return { ...asks(other.as(data.key), w), take: () => w.org.owner.delete(`${keys}/${data.id}`) }
      }
    },
  },
  'a session that was signed out': {
    refusal: 'UNAUTHORIZED',
    prepare: async (w, other) => async () => {
      const { client } = await createPerson(w, 'Sue Session')
      const there = other.as(client.token)
      return {
        look: () => there.get('/v1/orgs'),
        write: () => there.post('/v1/orgs', { name: '' }),
        take: () => client.post('/v1/auth/sign-out'),
      }
    },
  },
  'an app that was switched off': {
    refusal: 'NOT_FOUND',
    prepare: async (w, other) => {
      const { owner, path } = w.org
      const there = other.as(owner.token)
      return async () => ({
        look: () => there.get(`${path}/functions`),
        write: () => there.put(`${path}/functions/secrets/A`, { value: 'a' }),
        take: () => owner.patch(path, { apps: { functions: false } }),
        give: () => owner.patch(path, { apps: { functions: true } }),
      })
    },
  },
  'a suspended workspace': {
    refusal: 'ORG_SUSPENDED',
    prepare: async (w, other) => {
      const { database } = w.api.services
      return async () => ({
        ...asks(other.as(w.org.owner.token), w),
        take: () => firstRow(database, changeWorkspaceStatus({ id: w.org.id, from: 'active', to: 'suspended' })),
        give: () => firstRow(database, changeWorkspaceStatus({ id: w.org.id, from: 'suspended', to: 'active' })),
      })
    },
  },
}

const start = shareWorld(test)
const ends: (() => unknown)[] = []
let process: Promise<Client> | undefined
test.after.always(async () => {
  for (const end of ends) await end()
})

for (const [title, { refusal, prepare }] of Object.entries(cases)) {
  test(`immediate: ${title} applies to the next request in another process, ${rounds} times`, async (t) => {
    const w = await start()
    process ??= startApiProcess({ teardown: (end) => ends.push(end) }, w)
    const next = await prepare(w, await process)
    const outcomes: string[] = []
    for (let round = 0; round < rounds; round += 1) outcomes.push(await play(await next(), round))
    t.deepEqual(new Set(outcomes), new Set([`${refusal} ${refusal}`]))
  })
}

test(`immediate: an expired key applies to the next request in another process, ${rounds} times`, async (t) => {
  let time = Date.now()
  const now = () => new Date(time)
  const w = await world({}, [], now)
  t.teardown(w.close)
  const other = await startSecondApi(t, w, now)
  const { id } = await createService(w, w.org, policy)
  const outcomes: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    const expires_at = new Date(time + 1_000).toISOString()
    const { data } = await w.org.owner.post(`${w.org.path}/service-accounts/${id}/keys`, { expires_at })
    const take = async () => {
      time += 1_000
    }
    outcomes.push(await play({ ...asks(other.as(data.key), w), take }, round))
  }
  t.deepEqual(new Set(outcomes), new Set(['UNAUTHORIZED UNAUTHORIZED']))
})

/** Warms the caches, takes access away, and returns the codes of the next two responses. */
async function play({ look, write, take, give }: Round, number: number): Promise<string> {
  const requests = number % 2 === 0 ? [look, write] : [write, look]
  for (const request of requests) {
    const { status, text } = await request()
    if (status === 401 || status === 403 || status === 404) return `round ${number} begins with ${status} ${text}`
  }
  await take()
  const codes: string[] = []
  for (const request of requests) {
    const { status, body } = await request()
    codes.push(status < 400 ? `round ${number}: ${status}` : body.error.code)
  }
  await give?.()
  return codes.join(' ')
}
