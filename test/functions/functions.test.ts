import test from 'ava'
import { world } from '#test/support/world.ts'

test('a function is made, run, changed and deleted', async (t) => {
  const w = await world()
  t.teardown(w.close)
  const made = await w.org.owner.post(`${w.org.path}/functions`, {
    name: 'Add',
    source: 'const handler = ({ a, b }) => { console.log("adding", a); return a + b }',
  })
  t.is(made.status, 201)
  const run = await w.org.owner.post(`${w.org.path}/functions/${made.data.id}/invoke`, { input: { a: 1, b: 2 } })
  t.is(run.status, 200)
  t.like(run.data, { result: 3, logs: [{ level: 'log', msg: 'adding 1' }], steps: [], timed_out: false })
  t.false('error' in run.data)
})
