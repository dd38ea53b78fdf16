import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { freePort } from '#scripts/ports.ts'
import { eventually } from '#test/support/eventually.ts'
import { made } from '#test/support/made.ts'
import { shareWorld } from '#test/support/shared-world.ts'

let port = 0
const start = shareWorld(test, async () => {
  port = await freePort()
  return { EGRESS_ALLOW: `127.0.0.1:${port}` }
})

/** Another program: it writes the orders that Kontor sends into a file, each once. */
const receiver = `
import { appendFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

const { PORT, SECRET, FILE } = process.env
const webhook = new Webhook(SECRET)
const known = new Set()
createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  try {
    const { id, subject, data } = webhook.verify(Buffer.concat(chunks).toString(), request.headers)
    if (!known.has(id)) await appendFile(FILE, JSON.stringify({ id: subject.id, ...data.after }) + '\\n')
    known.add(id)
    response.writeHead(204).end()
  } catch {
    response.writeHead(400).end()
  }
}).listen(PORT, '127.0.0.1')
`

test('webhook: an order that is entered is a line of another program, also where that was away at first', async (t) => {
  const w = await start()
  const { owner, path } = w.org
  await made(owner.post(`${path}/types`, { key: 'orders', label: 'Orders' }))
  for (const [key, type] of [
    ['customer', 'string'],
    ['total', 'currency'],
    ['margin', 'number'],
  ])
    await made(owner.post(`${path}/fields`, { entity_type: 'orders', key, label: key, type }))
  const policy = [{ effect: 'allow', actions: ['records:read'], resources: ['orders'], fields: { deny: ['margin'] } }]
  const role = await made(owner.post(`${path}/iam/groups`, { name: 'Shop floor', policy }))
  const account = await made(owner.post(`${path}/service-accounts`, { name: 'ERP', role_ids: [role.id] }))
  const body = { url: `http://127.0.0.1:${port}/orders`, types: ['records.created'], object_type: 'orders', service_account_id: account.id }
  const webhook = (await made(owner.post(`${path}/webhooks`, body))) as unknown as { id: string; secret: string }
  const order = await made(owner.post(`${path}/records/orders`, { values: { customer: 'Café Lindgren', total: '128.50', margin: 31 } }))
  const read = async () => (await owner.get(`${path}/webhooks/${webhook.id}`)).data
  await eventually(async () => (await read()).status === 'failing')

  const folder = await mkdtemp(join(tmpdir(), 'kontor-journey-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'orders.ndjson')
  const environment = { ...process.env, PORT: String(port), SECRET: webhook.secret, FILE: file }
  const program = spawn(process.execPath, ['--input-type=module', '-e', receiver], { env: environment, stdio: 'inherit' })
  t.teardown(() => program.kill('SIGKILL'))
  const lines = await eventually(async () => {
    const text = await readFile(file, 'utf8').catch(() => '')
    return text.endsWith('\n') && text.trim().split('\n')
  })
  t.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [{ id: order.id, customer: 'Café Lindgren', total: { amount: 128.5, code: 'USD' } }],
  )
  await eventually(async () => (await read()).status === 'active')
  await owner.delete(`${path}/webhooks/${webhook.id}`)
})
