import test from 'ava'
import { chosenRoutes } from '#test/api/walk/chosen.ts'
import { addressOf, type Call, headersOf } from '#test/api/walk/example.ts'
import { examples } from '#test/api/walk/examples.ts'
import { withUnknownKeys } from '#test/api/walk/fixed-objects.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { listening } from '#test/support/listening.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { type Place, settle } from '#test/support/things.ts'

const start = shareWorld(test, async () => ({ TRUST_PROXY: '1', ...(await listening()), AGENT_URL: 'http://localhost:9' }))
let made: Promise<Place> | undefined
const place = () => {
  made ??= start().then((world) => settle(world, world.org))
  return made
}

const strict = chosenRoutes.filter(({ name }) => name.includes(' /v1/'))

/** An example's call as the owner of the place makes it. */
async function callOf(name: string): Promise<Call> {
  const here = await place()
  const example = examples[name]
  if (!example) throw new Error(`${name} has no example`)
  return example.call(here, { id: here.org.ownerId, client: here.org.owner })
}

async function send(name: string, call: Call, body: unknown, suffix = '') {
  const { org } = await place()
  const [method = ''] = name.split(' ')
  const address = addressOf(name, org.id, call)
  const headers = { ...headersOf(call), ...fromAnywhere() }
  return (call.client ?? org.owner).send(method, address + (suffix && (address.includes('?') ? `&${suffix}` : `?${suffix}`)), body, headers)
}

for (const { name, route } of strict) {
  test(`unknown keys: an unknown query parameter is named: ${name}`, async (t) => {
    const call = await callOf(name)
    const answer = await send(name, call, call.body, 'zzz_unknown=1')
    t.is(answer.status, 400, answer.text)
    t.true(answer.body.error.message.includes('zzz_unknown is no query parameter'), answer.text)
  })
  if (route.body === undefined || route.body === 'any') continue
  const { json } = route.body
  test(`unknown keys: an unknown key at each level is named: ${name}`, async (t) => {
    const call = await callOf(name)
    for (const { path, body } of withUnknownKeys(json)) {
      const answer = await send(name, { ...call, headers: {} }, body)
      t.is(answer.status, 400, `${path}: ${answer.text}`)
      t.true(answer.body.error.message.startsWith(`${path} is no key of `), `${path}: ${answer.text}`)
    }
  })
}

/** Where an object without a GET of its own is read: in a list, by its id or key. */
const lists: Readonly<
  Record<string, (call: Call, place: Place) => readonly [path: string, isIt: (one: Record<string, unknown>) => boolean]>
> = {
  '/v1/orgs/:orgId/types/:typeKey': ({ params }) => ['/types', ({ key }) => key === params?.typeKey],
  '/v1/orgs/:orgId/fields/:fieldId': ({ params }, { keys }) => [`/fields?entity_type=${keys.type}`, ({ id }) => id === params?.fieldId],
}

const changes = strict.filter(({ route }) => route.kind !== 'page' && route.stored !== undefined)

for (const { name } of changes) {
  const [method = '', path = ''] = name.split(' ')
  const owner = path.replace(/\/(?:values|autogen|formula|description|ref-type)$/, '')
  if (owner !== path && !path.endsWith('/values')) continue
  if (path.endsWith('/secrets/:name')) continue
  test(`unknown keys: a resource is accepted as it was read: ${name}`, async (t) => {
    const here = await place()
    const { type: _, ...call } = await callOf(name)
    const list = lists[path]?.(call, here)
    const answer = list ? await here.org.owner.get(here.org.path + list[0]) : await send(`GET ${owner}`, { ...call, query: {} }, undefined)
    t.is(answer.status, 200, answer.text)
    const object = list ? answer.body.data.find(list[1]) : answer.body.data
    t.truthy(object)
    const sent = await send(name, call, { ...object, warnings: ['any'] })
    t.true(sent.status === 200 || sent.status === 204, sent.text)
    const other = Object.entries(object).find(([key, value]) => key === 'id' && typeof value === 'string')
    if (!other || method === 'POST') return
    const refused = await send(name, call, { ...object, id: 'another' })
    t.is(refused.status, 400)
    t.is(refused.body.error.message, 'id cannot be changed here')
  })
}
