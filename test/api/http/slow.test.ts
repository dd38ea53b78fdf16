import { createInterface } from 'node:readline'
import test from 'ava'
import { Client } from '#test/support/client.ts'
import { startProcess } from '#test/support/process.ts'
import { world } from '#test/support/world.ts'

test('a statement that takes long is logged with its text, without its values, and with the id of its request', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const api = await startProcess(t, w, 'api', { PORT: '0', LOG_LEVEL: 'info', SLOW_STATEMENT_MS: '50' })
  const lines = createInterface(api.stdout)[Symbol.asyncIterator]()
  const next = async (message: string) => {
    for (;;) {
      const { value } = await lines.next()
      const line = JSON.parse(value ?? '{}')
      if (line.msg === message) return line
    }
  }
  const client = new Client(`http://127.0.0.1:${(await next('api ready')).port}`, w.org.owner.token)
  const holder = await w.db.connect()
  await holder.query(`begin; lock table ws_${w.org.id.replaceAll('-', '')}.invoices in access exclusive mode`)
  const filter = encodeURIComponent(JSON.stringify([{ field: 'notes', op: 'eq', value: 'a secret' }]))
  const answer = client.get(`${w.org.path}/records/invoices?filter=${filter}`, { 'x-request-id': 'the-slow-one' })
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and now() - query_start > '50 ms'`
  while ((await w.db.query(waiting)).rowCount === 0);
  await holder.query('commit')
  holder.release()
  t.is((await answer).status, 200)
  const line = await next('slow statement')
  t.like(line, { request_id: 'the-slow-one', rows: 1 })
  t.regex(line.text, /invoices/)
  t.true(line.ms >= 50)
  t.notRegex(JSON.stringify(line), /a secret/)
})
