import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { cable } from '#test/bin/cable.ts'
import { callTyping, callWith } from '#test/bin/call.ts'
import { fileOf } from '#test/bin/importing.ts'
import { createLine, proven } from '#test/features/queues/support.ts'
import { eventually } from '#test/support/eventually.ts'
import { createService } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import { showVerdict } from '../../bin/queues/verdict.ts'

const start = shareWorld(test)
const folder = mkdtempSync(join(tmpdir(), 'kontor-station-'))
process.once('exit', () => rmSync(folder, { recursive: true }))

async function station(t: Parameters<typeof createLine>[0], definition: object = {}, port?: number) {
  const w = await start()
  const line = await createLine(t, w.org, definition)
  const robot = await createService(w, w.org, [{ effect: 'allow', actions: ['queues:read', 'queues:transition', 'queues:enqueue'] }])
  const environment = {
    KONTOR_URL: `http://127.0.0.1:${port ?? w.api.port}`,
    KONTOR_KEY: robot.client.token ?? '',
    DATA_DIR: mkdtempSync(join(folder, 'data-')),
  }
  return { w, line, environment }
}

async function* typed(...lines: readonly (string | (() => Promise<unknown>))[]): AsyncGenerator<string> {
  for (const line of lines) {
    if (typeof line === 'string') yield `${line}\r\n`
    else await line()
  }
}

test('queues: a station reads keys line by line and shows each verdict', async (t) => {
  const { w, line, environment } = await station(t)
  await line.add(['A', ' 0B'])
  const called = await callTyping(
    environment,
    typed('A', '', 'A', ' 0B\t', 'C'),
    'scan',
    'line',
    '--to-stage',
    'work',
    '--station',
    'dock',
    '--json',
  )
  t.is(called.code, 0, called.err)
  t.like(called.json, { queue: 'line', moved: 2, duplicate: 1, unknown: 1, waiting: 0 })
  t.regex(called.err, /^moved\tA moved to Work\nduplicate\tA is in Work already\nmoved\t 0B moved to Work\nunknown\t/)
  const [event] = (await w.org.owner.get(`${line.path}/events?limit=1`)).data
  t.like(event, { station: 'dock', key: 'C' })
  t.is((await callWith(environment, 'scan', 'none')).code, 1)
  t.is((await callWith(environment, 'scan', 'line', '--to-stage', 'none')).code, 2)
  await proven(t, w.org.owner, line)
})

/** Waits until the journal holds something. */
const once = (journal: string) => () => eventually(async () => readFileSync(journal, 'utf8') !== '')

test('queues: a station keeps scans that it cannot send, also beyond its own end, and sends them once the server is back', async (t) => {
  let apiPort = 0
  const wire = cable(() => apiPort)
  const port = await wire.plug()
  const { w, line, environment } = await station(t, {}, port)
  apiPort = w.api.port
  await line.add(['A', 'B', 'C', 'D'])
  const journal = join(environment.DATA_DIR, 'journal.ndjson')
  const options = ['scan', 'line', '--journal', journal, '--json'] as const
  // Lines are read ahead of the verdicts, so the connection is cut after the first verdict.
  const afterA = () => eventually(async () => (await line.summary()).by_stage.work === 1 && readFileSync(journal, 'utf8') === '')
  const cut = await callTyping(environment, typed('A', afterA, wire.cut, 'B', 'C'), ...options)
  t.is(cut.code, 1)
  t.like(cut.json, { moved: 1, waiting: 2 })
  t.regex(cut.err, /kept\t1 waiting: .*cannot be reached/)
  t.is(readFileSync(journal, 'utf8').trim().split('\n').length, 2)
  t.is((await line.summary()).by_stage.work, 1)
  await wire.plug(port)
  const mended = await callTyping(environment, typed('D'), ...options)
  t.is(mended.code, 0, mended.err)
  t.like(mended.json, { moved: 3, waiting: 0 })
  t.is(readFileSync(journal, 'utf8'), '')
  t.is((await line.summary()).by_stage.work, 4)
  const again = await callTyping(
    environment,
    typed(wire.cut, 'A', once(journal), () => wire.plug(port), 'B'),
    ...options,
  )
  t.like(again.json, { moved: 2, waiting: 0 })
  await wire.cut()
  await proven(t, w.org.owner, line)
})

test('queues: an invalid scan is reported and does not delay later ones', async (t) => {
  const { line, environment } = await station(t)
  await line.add(['A'])
  const called = await callTyping(environment, typed('x'.repeat(303), 'A'), 'scan', 'line', '--json')
  t.like(called.json, { refused: 1, moved: 1, waiting: 0 })
})

test('queues: a verdict fills the width of a terminal in its colour', (t) => {
  const parts: string[] = []
  showVerdict({ isTTY: true, columns: 40, write: (text) => parts.push(text) }, 'blocked', 'A\nB is full')
  const [top, bottom, message] = parts.join('').split('\n')
  t.true(top?.startsWith('\u001b#3\u001b[30;41m'))
  t.true(top?.includes('B L O C K E D'))
  t.true(bottom?.startsWith('\u001b#4'))
  t.true(message?.includes('A B is full'))
})

test('queues: a file fills a queue: known columns are parts of the item, and others its payload', async (t) => {
  const { w, line, environment } = await station(t)
  await line.add(['k1'])
  const file = fileOf(
    'manifest.csv',
    'key,Weight,stage,priority,status\r\nk1,1,,,\r\nk2,2.50,work,7,done\r\nk3,,nowhere,,\r\n,1,,,\r\nk4,,,x,\r\n',
  )
  const called = await callWith(environment, 'import', file, '--queue', 'line', '--batch', 'truck', '--json')
  t.is(called.code, 1)
  t.like(called.json, { queue: 'line', created: 1, duplicates: 1, failed: 3 })
  t.deepEqual(
    called.json.errors.map(({ row, message }: { row: number; message: string }) => `${row} ${message}`),
    ['3 stage must be one of in, work, out, got nowhere', '4 key is required', '5 priority must be a whole number, got x'],
  )
  const [item] = (await w.org.owner.get(`${line.path}/items?key=k2`)).data.items
  t.like(item, { stage: 'work', priority: 7, batch: 'truck', source: 'import', status: 'open', payload: { Weight: '2.50' } })
  const plain = fileOf('keys.csv', `code\r\n${Array.from({ length: 1_200 }, (_, index) => `p${index}`).join('\r\n')}\r\n`)
  const many = await callWith(environment, 'import', plain, '--queue', 'line')
  t.is(many.code, 0, many.err)
  t.regex(many.out, /1,200 items added to line/)
  const huge = fileOf('huge.csv', `key,note\r\nfine,x\r\nbig,${'y'.repeat(17_000)}\r\n`)
  const refused = await callWith(environment, 'import', huge, '--queue', 'line', '--json')
  t.like(refused.json, { created: 1, failed: 1 })
  t.regex(refused.json.errors[0].message, /^payload must have at most 16384 bytes/)
  const exported = await w.org.owner.get(`${line.path}/items?batch=truck`, { accept: 'text/csv' })
  const copy = await createLine(t, w.org, {}, 'copy')
  t.is((await callWith(environment, 'import', fileOf('items.csv', exported.text), '--queue', 'copy')).code, 0)
  const [copied] = (await w.org.owner.get(`${copy.path}/items?key=k2`)).data.items
  t.like(copied, { stage: 'work', priority: 7, batch: 'truck', payload: { Weight: '2.50' } })
  t.is((await callWith(environment, 'import', file, '--queue', 'line', '--type', 'x')).code, 2)
})
