import test from 'ava'
import { createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)
const source = 'const handler = (input) => input'

test('made keys: missing keys of stages and ids of buttons are generated, and differ even if labels are equal or not Latin', async (t) => {
  const w = await start()
  const org = await createOrg(w)
  const { id: function_id } = (await org.owner.post(`${org.path}/functions`, { name: 'Echo', source })).data
  const buttons = [
    { label: 'Go', function_id },
    { label: 'Go', function_id },
    { label: '送信', function_id },
  ]
  const stages = [
    { label: 'Приёмка', buttons },
    { label: 'Упаковка' },
    { label: 'Ready' },
    { label: 'ready' },
    { key: 'ready-2', label: 'x' },
    {},
  ]
  const made = await org.owner.post(`${org.path}/queues`, { key: 'parcels', name: 'Parcels', stages })
  t.is(made.status, 201, made.text)
  const keys = made.data.stages.map(({ key }: { key: string }) => key)
  t.deepEqual(keys, ['stage', 'stage-2', 'ready', 'ready-3', 'ready-2', 'stage-3'])
  t.deepEqual(
    made.data.stages[0].buttons.map(({ id }: { id: string }) => id),
    ['go', 'go-2', 'button'],
  )
  const turned = [stages[1], stages[0], ...stages.slice(2)]
  const replaced = await org.owner.put(`${org.path}/queues/${made.data.id}`, { stages: turned })
  t.is(replaced.status, 200, replaced.text)
  t.deepEqual(
    replaced.data.stages.map(({ key }: { key: string }) => key),
    ['stage-2', 'stage', 'ready', 'ready-3', 'ready-2', 'stage-3'],
    'a stage that is sent again without its key keeps it',
  )
})
