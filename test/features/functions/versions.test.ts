import test from 'ava'
import { functionLimits } from '#shared/features/functions/limits.ts'
import { allow, createFunction, handlerOf, invoke } from '#test/features/functions/support.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)

test('versions: every source is a version, and restoring one makes it the newest', async (t) => {
  const w = await fresh()
  const { org } = w
  const [one, two] = [handlerOf('return 1'), handlerOf('return "zwei"')]
  const { id } = await createFunction(t, org, one)
  const path = `${org.path}/functions/${id}`
  await org.owner.put(path, { source: two })
  await org.owner.put(path, { name: 'New name' })
  const { data } = await org.owner.get(`${path}/versions`)
  t.deepEqual(
    data.map(({ version, source_bytes }: Record<string, number>) => [version, source_bytes]),
    [
      [2, two.length],
      [1, one.length],
    ],
  )
  t.deepEqual((await org.owner.get(`${path}/versions/1`)).data, { ...data[1], source: one })
  for (const bad of ['0', '3', 'x', '1.0', '99999999999']) {
    t.is((await org.owner.get(`${path}/versions/${bad}`)).status, 404)
    t.is((await org.owner.post(`${path}/versions/${bad}/restore`)).status, 404)
  }

  const editor = await createMember(w, org, [allow('functions:create')])
  const restored = await editor.client.post(`${path}/versions/1/restore`)
  t.is(restored.status, 200)
  t.like(restored.data, { source: one, version: 3, author_id: editor.id, name: 'New name' })
  t.is((await invoke(t, org, id)).result, 1)
  t.is((await org.owner.get(`${path}/runs`)).data.runs[0].version, 3)
  t.is((await org.owner.get(`${path}/versions`)).data.length, 3)
})

test('versions: the last fifty versions are kept', async (t) => {
  const w = await fresh()
  const { id } = await createFunction(t, w.org, handlerOf('return 0'))
  const path = `${w.org.path}/functions/${id}`
  for (let change = 1; change <= functionLimits.keptVersions; change++)
    await w.org.owner.put(path, { source: handlerOf(`return ${change}`) })
  const versions = (await w.org.owner.get(`${path}/versions`)).data.map(({ version }: { version: number }) => version)
  t.deepEqual(
    versions,
    Array.from({ length: 50 }, (_, place) => 51 - place),
  )
})
