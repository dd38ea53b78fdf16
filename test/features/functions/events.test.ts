import test from 'ava'
import { lastSeq, readAll } from '#test/core/events/reading.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const newWorkspace = shareWorld(test)

test('events: a run that does not return is an event without its error, for who may read the function', async (t) => {
  const w = await newWorkspace()
  const { owner, path } = w.org
  const make = async (name: string, source: string): Promise<string> => (await owner.post(`${path}/functions`, { name, source })).data.id
  const throwing = await make('Throws', `const handler = () => { throw new Error('planted') }`)
  const returning = await make('Returns', 'const handler = () => 1')
  const after = await lastSeq(w)
  for (const id of [throwing, returning]) await owner.post(`${path}/functions/${id}/invoke`, { input: {} })
  await w.drain()
  const [run] = (await owner.get(`${path}/functions/${throwing}/runs`)).data.runs
  const reader = async (resources: readonly string[]) =>
    readAll(w, (await createMember(w, w.org, [{ effect: 'allow', actions: ['functions:read'], resources }])).client, after)
  const events = await reader([throwing])
  t.deepEqual(
    events.map(({ type, subject, data }) => ({ type, subject, data })),
    [{ type: 'functions.failed', subject: { function: throwing, id: run.id }, data: { version: 1, ending: 'threw' } }],
  )
  t.false(JSON.stringify(events).includes('planted'))
  t.deepEqual(await reader([returning]), [])
})
