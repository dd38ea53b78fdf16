import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { allow } from '#test/features/functions/support.ts'
import { createMember, type Org } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)
const compiler = join(import.meta.dirname, '..', '..', '..', 'node_modules', 'typescript-7', 'bin', 'tsc')

/** TypeScript's errors of a function against the declarations. */
async function complaints(t: ExecutionContext, declarations: string, source: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kontor-declarations-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await Promise.all([writeFile(join(folder, 'sdk.d.ts'), declarations), writeFile(join(folder, 'function.ts'), source)])
  const options = ['--noEmit', '--strict', '--target', 'es2023', '--lib', 'es2023', '--types', '', 'sdk.d.ts', 'function.ts']
  const failed = (error: { stdout: string }) => error
  return (await promisify(execFile)(process.execPath, [compiler, ...options], { cwd: folder }).catch(failed)).stdout
}

async function makeDeals({ owner, path }: Org): Promise<void> {
  await owner.post(`${path}/types`, { key: 'deals', label: 'Deals */ declare const evil: 1 /*' })
  const fields: readonly (readonly [string, string, object?])[] = [
    ['title', 'string'],
    ['amount', 'currency'],
    ['count', 'number'],
    ['open', 'bool'],
    ['stage', 'select', { options: ['new', 'it\'s "won"', 'back\\slash'] }],
    ['tags', 'multiselect', { options: ['a', 'b'] }],
    ['others', 'refs', { ref_type: 'deals' }],
    ['secret', 'text'],
  ]
  for (const [key, type, rules] of fields) {
    const made = await owner.post(`${path}/fields`, { entity_type: 'deals', key, label: key, type, ...(rules ? { rules } : {}) })
    if (key === 'count') await owner.put(`${path}/fields/${made.data.id}/formula`, { formula: '1 + 1' })
  }
}

test('declarations: the declarations contain the types and fields of the workspace, and TypeScript accepts them', async (t) => {
  const { org } = await fresh()
  await makeDeals(org)
  const answer = await org.owner.get(`${org.path}/functions/sdk.d.ts`)
  t.is(answer.status, 200)
  t.is(answer.headers.get('content-type'), 'application/typescript; charset=utf-8')
  const right = `
    async function handler(input: unknown) {
      const made = await sdk.records.create('deals', { title: 'x', amount: 5, stage: 'it\\'s "won"', tags: ['a'] })
      await sdk.records.update('deals', made.id, { amount: { amount: '12345678901234.123456' }, open: 'true' })
      await sdk.records.update('deals', made.id, { amount: { amount: 1, code: 'EUR' }, stage: null })
      const { records, next_cursor, total } = await sdk.records.list('deals', { filter: [{ field: 'title', value: 'x' }], limit: 3 })
      const amount: number | undefined = records[0]?.values.amount?.amount
      const stage: 'new' | 'it\\'s "won"' | 'back\\\\slash' | null = made.values.stage
      const count: number | null = made.values.count
      const { result, error } = await sdk.functions.invoke('id', { a: 1 })
      setTimeout(() => console.log(await_(stage), count), 5)
      return [await sdk.crypto.hmac('sha256', await sdk.secrets.get('KEY'), 'x'), amount, next_cursor, total, result, error, made.object_type]
    }
    const await_ = <T>(value: T): T => value
    void handler`
  t.is(await complaints(t, answer.text, right), '')
  for (const wrong of [
    "sdk.records.get('nothing', 'x')",
    "sdk.records.create('deals', { nothing: 1 })",
    "sdk.records.create('deals', { stage: 'other' })",
    "sdk.records.create('deals', { count: 1 })",
    "sdk.crypto.hmac('md5', 'a', 'b')",
    'evil',
  ]) {
    t.regex(await complaints(t, answer.text, `void (${wrong})`), /function\.ts\(1,\d+\): error/, wrong)
  }
})

test('declarations: the declarations contain only what their reader may read', async (t) => {
  const w = await fresh()
  const { org } = w
  await makeDeals(org)
  const limited = await createMember(w, org, [
    allow('functions:read'),
    { ...allow('records:read'), resources: ['deals'], fields: { deny: ['secret'] } },
    { ...allow('records:read'), resources: ['locations'], condition: { 'resource.name': { eq: 'x' } }, fields: { deny: ['address'] } },
    { ...allow('records:read'), resources: ['locations'], condition: { 'resource.name': { ne: 'x' } } },
  ])
  const { text } = await limited.client.get(`${org.path}/functions/sdk.d.ts`)
  t.true(text.includes('title: string | null'))
  t.false(text.includes('secret:') || text.includes('secret?:'), 'a hidden field is not named')
  t.true(text.includes('address?: string | null'), 'one that some records hide is marked')
  t.false(text.includes('invoices'), 'a type that it may not read is not named')
  const nothing = await createMember(w, org, [allow('functions:read')])
  t.is(await complaints(t, (await nothing.client.get(`${org.path}/functions/sdk.d.ts`)).text, 'void sdk.crypto.uuid()'), '')
})
