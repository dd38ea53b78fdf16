import test from 'ava'
import { runBody } from '#test/features/functions/support.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)

test('exact numbers: a number that a double cannot hold is text with all its digits, and may be written back so', async (t) => {
  const { org } = await fresh()
  await org.owner.post(`${org.path}/types`, { key: 'sums', label: 'Sums' })
  await org.owner.post(`${org.path}/fields`, { entity_type: 'sums', key: 'exact', label: 'Exact', type: 'number' })
  await org.owner.post(`${org.path}/fields`, { entity_type: 'sums', key: 'short', label: 'Short', type: 'number' })
  const values = { exact: '12345678901234.123456', short: '1234567890123.50' }
  const { id } = (await org.owner.post(`${org.path}/records/sums`, { values })).data
  const { result } = await runBody(
    t,
    org,
    `const { values } = await sdk.records.get('sums', '${id}')
     await sdk.records.update('sums', '${id}', values)
     return [values, (await sdk.records.get('sums', '${id}')).values]`,
  )
  const read = { exact: '12345678901234.123456', short: 1_234_567_890_123.5 }
  t.deepEqual(result, [read, read])
})
