import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import test, { type ExecutionContext } from 'ava'
import { createFunction, handlerOf } from '#test/features/functions/support.ts'
import { Client } from '#test/support/client.ts'
import { eventually } from '#test/support/eventually.ts'
import { createOrg } from '#test/support/factories.ts'
import { startProcess } from '#test/support/process.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

const shared = shareWorld(test, {}, { pools: ['data', 'schedule'] })

type Line = Readonly<Record<string, unknown>>

/** Starts a process and collects the lines of its log. */
async function logged(t: ExecutionContext, w: World, name: string, environment: Readonly<Record<string, string>>) {
  const child = await startProcess(t, w, name, { PORT: '0', LOG_LEVEL: 'info', ...environment })
  const lines: Line[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)))
  const portOf = () => lines.find(({ msg }) => msg === `${name === 'api' ? 'api' : 'worker'} ready`)?.port
  await eventually(() => portOf() !== undefined)
  const stop = async () => {
    child.kill('SIGTERM')
    await once(child, 'close')
  }
  return { lines, stop, visitor: new Client(`http://127.0.0.1:${portOf()}`, null) }
}

test('access log: a line for each request names route, status, workspace and request, and nothing that the caller sent', async (t) => {
  const w = await shared()
  const { path, id } = w.org
  const foreign = await createOrg(w, 'Foreign')
  const { lines, stop, visitor } = await logged(t, w, 'api', { ACCESS_LOG: '1' })
  const owner = visitor.as(w.org.owner.token)
  const ids = [1, 2, 3, 4, 5].map(() => randomUUID())
  const sending = (index: number) => ({ 'X-Request-ID': ids[index] ?? '' })
  await owner.get(`${path}/records/locations?q=planted-in-a-query`, sending(0))
  await owner.post(`${path}/records/locations`, { values: { name: 'planted-in-a-body' } }, sending(1))
  await owner.get(`${foreign.path}/types`, sending(2))
  await visitor.as('kt_planted_token').get(`${path}/types`, sending(3))
  await visitor.send('GET', '/planted-path', undefined, sending(4))
  await stop()
  const access = lines.filter(({ msg }) => msg === 'request')
  const lineOf = (index: number) => access.filter(({ request_id }) => request_id === ids[index])
  const common = { level: 30, workspace_id: id }
  t.like(lineOf(0), [{ ...common, method: 'GET', route: '/orgs/:orgId/records/:typeKey', status: 200 }])
  t.like(lineOf(1), [{ ...common, method: 'POST', route: '/orgs/:orgId/records/:typeKey', status: 201 }])
  t.like(lineOf(2), [{ method: 'GET', route: '/orgs/:orgId/types', status: 404 }])
  t.like(lineOf(3), [{ method: 'GET', status: 401 }])
  t.like(lineOf(4), [{ method: 'GET', route: 'none', status: 404 }])
  for (const index of [2, 3, 4]) t.false('workspace_id' in (lineOf(index)[0] ?? {}), 'a workspace that was not entered is not named')
  t.true(access.every(({ ms }) => Number.isInteger(ms)))
  t.is(access.length, 5)
  t.notRegex(JSON.stringify(lines), /planted/)
})

test('access log: without ACCESS_LOG a request is not logged', async (t) => {
  const w = await shared()
  const { lines, stop, visitor } = await logged(t, w, 'api', {})
  t.is((await visitor.as(w.org.owner.token).get(`${w.org.path}/types`)).status, 200)
  await stop()
  t.false(lines.some(({ msg }) => msg === 'request'))
})

test('access log: a statement of a job is logged with the workspace and the request that caused it', async (t) => {
  const w = await shared()
  const { lines } = await logged(t, w, 'functions', { SLOW_STATEMENT_MS: '1' })
  const { id } = await createFunction(t, w.org, handlerOf('return (await sdk.records.list("accounts")).total'))
  await eventually(async () => {
    const request = randomUUID()
    const run = await w.org.owner.post(`${w.org.path}/functions/${id}/invoke`, { input: null }, { 'X-Request-ID': request })
    t.is(run.status, 200)
    return lines.some(
      ({ msg, request_id, workspace_id }) => msg === 'slow statement' && request_id === request && workspace_id === w.org.id,
    )
  })
})
