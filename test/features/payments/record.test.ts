import test from 'ava'
import { createSystemRecord } from '#shared/core/records/create/create-system-record.ts'
import { connect, makeLink, paymentsOf, recordsOf } from '#test/features/payments/place.ts'
import { shareProviders } from '#test/features/payments/providers.ts'
import { addSandboxPayment, makeFieldCustom } from '#test/features/payments/rows.ts'
import { readCauses } from '#test/support/audit.ts'
import { createOrg } from '#test/support/factories.ts'
import { scopeOf } from '#test/support/scope.ts'
import { world } from '#test/support/world.ts'

const shared = shareProviders(test)

test('record: no setting of a workspace prevents the record of a payment', async (t) => {
  const w = await world({ FREE_RECORDS: '1' })
  t.teardown(w.close)
  const org = await createOrg(w, 'Free', 'free')
  const { owner, path } = org
  const field = async (body: object) => {
    const answer = await owner.post(`${path}/fields`, { entity_type: 'payments', label: 'Mine', ...body })
    t.is(answer.status, 201, answer.text)
    return answer.data.id
  }
  await field({ key: 'region', type: 'string', required: true })
  await field({ key: 'batch', type: 'string', unique: true, rules: { default: 'same' } })
  const number = await field({ key: 'receipt', type: 'string', unique: true, required: true })
  t.is((await owner.put(`${path}/fields/${number}/autogen`, { pattern: 'R-{seq}' })).status, 200)
  const doubled = await field({ key: 'doubled', type: 'string', unique: true })
  t.is((await owner.put(`${path}/fields/${doubled}/formula`, { formula: 'provider & "!"' })).status, 200)
  await w.drain()
  t.is((await owner.post(`${path}/records/payments`, { values: { region: 'here', receipt: 'R-2' } })).status, 201)
  t.is((await owner.post(`${path}/records/payments`, { values: { region: 'here', batch: 'x' } })).status, 402)
  const connectionId = await connect(org, 'sandbox')
  const links: string[] = []
  for (let index = 0; index < 3; index++) {
    const { id } = await makeLink(org, connectionId)
    links.push(id)
    await addSandboxPayment(w.db, org.id, connectionId, id, `sbx_${index}`)
    const { data } = await owner.post(`${paymentsOf(org)}/links/${id}/refresh`)
    t.is(data.status, 'paid')
  }
  const records = await recordsOf(org)
  t.deepEqual(
    records.map(({ values }: { values: Record<string, unknown> }) => [
      values.region,
      values.batch,
      values.receipt,
      values.doubled,
      values.payer_email,
    ]),
    [
      ['here', 'same', 'R-2', '!', null],
      [null, null, 'R-1', 'sandbox!', null],
      [null, null, 'R-3', null, null],
      [null, null, 'R-4', null, null],
    ],
  )
  const { entries } = (await owner.get(`${path}/audit?record_id=${records[1].id}`)).data
  t.deepEqual(
    entries.map(({ actor_type, actor_id, action }: Record<string, unknown>) => [actor_type, actor_id, action]),
    [['system', null, 'record.created']],
  )
  t.deepEqual(await readCauses(org, 'object_type=payments'), [
    ['created payments: request', null],
    ...links.map((id) => ['created payments: payment', id]),
  ])
})

test('record: a custom field with a built-in key is not written', async (t) => {
  const w = await shared()
  await makeFieldCustom(w.db, w.org.id, 'provider')
  const scope = await scopeOf(w, w.org)
  const { values } = await createSystemRecord(scope, 'payments', { provider: 'stripe', reference: 'pi_1' })
  t.like(values, { provider: null, reference: 'pi_1' })
})
