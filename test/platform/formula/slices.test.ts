import test from 'ava'
import { compileFormula } from '#shared/platform/formula/formula.ts'
import { formulaLimits } from '#shared/platform/formula/limits.ts'
import { fillRecords } from '#test/core/records/fill.ts'
import { createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)

/** About 1.3 million of a record's 2 million steps: some 20 ms. */
const parts = Array.from({ length: 8 }, (_, index) => `LEN(SUBSTITUTE(UPPER(REPT(words, 12000)), "A", "${index}"))`)
const long = parts.join('+')
const words = 'a bc '
const fields = new Map([['words', { type: 'text' as const }]])
const compiled = (source: string) => compileFormula(source, { fields, target: { key: 'result' } })

test('slices: a long formula yields the thread, and its value and steps are the same as in one slice', async (t) => {
  const values = new Map([['words', words]])
  for (const source of [long, `IF(${long} > 5, ${long}, "none")`, `IFERROR(${long} / 0, "${'x'.repeat(10)}")`]) {
    const whole = { steps: formulaLimits.steps, text: formulaLimits.recordText }
    const sliced = { ...whole }
    const { evaluate, evaluateInSlices } = compiled(source)
    let pauses = 0
    const pause = async () => {
      pauses += 1
    }
    const inOne = evaluate(values, { now: new Date(0), budget: whole })
    t.deepEqual(await evaluateInSlices(values, { now: new Date(0), budget: sliced, pause }), inOne)
    t.true(pauses >= 2, `${pauses} pauses`)
    t.true(sliced.steps >= 0 && sliced.steps <= whole.steps)
  }
})

test('slices: a short formula needs no pause, and an endless one has no value', async (t) => {
  const now = new Date(0)
  const pause = async () => undefined
  t.false(compiled('LEN(words)').evaluateInSlices(new Map([['words', 'abc']]), { now, pause }) instanceof Promise)
  const endless = Array(5).fill(long).join('+')
  t.deepEqual(await compiled(endless).evaluateInSlices(new Map([['words', words]]), { now, pause }), { kind: 'error', code: '#LIMIT!' })
})

test('slices: a batch whose formulas exceed the bound is refused with 400 that names it and changes nothing; fewer operations pass', async (t) => {
  const org = await createOrg(await shared())
  t.is((await org.owner.post(`${org.path}/types`, { key: 'heavy', label: 'Heavy' })).status, 201)
  await org.owner.post(`${org.path}/fields`, { entity_type: 'heavy', key: 'words', label: 'Words', type: 'text' })
  const field = await org.owner.post(`${org.path}/fields`, { entity_type: 'heavy', key: 'size', label: 'Size', type: 'number' })
  t.is((await org.owner.put(`${org.path}/fields/${field.data.id}/formula`, { formula: long })).status, 200)
  const create = { op: 'create', values: { words } }
  const few = await org.owner.post(`${org.path}/records/heavy/batch`, { operations: Array(5).fill(create), atomic: true })
  t.is(few.status, 200, few.text)
  t.is(few.data.results[0].record.values.size, 8 * 60_000)
  const many = await org.owner.post(`${org.path}/records/heavy/batch`, { operations: Array(200).fill(create), atomic: true })
  t.is(many.status, 400, many.text)
  t.regex(
    many.text,
    /operations\[\d+\]: the formulas of a batch may take at most 1000000 steps of computing; send fewer operations at once/,
  )
  t.is((await org.owner.get(`${org.path}/records/heavy?filter=[]`)).data.total, 5)
})

test('slices: a change of the records that match has a budget for every 100; records beyond it are skipped', async (t) => {
  const w = await shared()
  const { owner, path } = w.org
  t.is((await owner.post(`${path}/types`, { key: 'heavy', label: 'Heavy' })).status, 201)
  await owner.post(`${path}/fields`, { entity_type: 'heavy', key: 'words', label: 'Words', type: 'text' })
  const field = await owner.post(`${path}/fields`, { entity_type: 'heavy', key: 'size', label: 'Size', type: 'number' })
  t.is((await owner.put(`${path}/fields/${field.data.id}/formula`, { formula: long })).status, 200)
  await w.drain()
  await fillRecords(w, 'heavy', 150, {})
  const { status, data, text } = await owner.post(`${path}/records/heavy/update-where`, { filter: [], values: { words } })
  t.is(status, 200, text)
  t.is(data.matched, 150)
  t.is(data.changed + data.skipped.length, 150)
  t.true(data.skipped.every(({ code }: { code: string }) => code === 'VALIDATION_ERROR'))
  const changed = await owner.get(
    `${path}/records/heavy?limit=200&fields=size&filter=${encodeURIComponent('{"field":"words","op":"not_empty"}')}`,
  )
  t.is(changed.data.total, data.changed)
  const skipped = new Set(data.skipped.map(({ id }: { id: string }) => id))
  const all = (await owner.get(`${path}/records/heavy?limit=200&fields=&sort=created_at&dir=asc`)).data.records
  const isSkipped = all.map(({ id }: { id: string }) => skipped.has(id))
  // The first of each 100 are changed, the last of the first 100 are not.
  t.deepEqual([isSkipped[0], isSkipped[99], isSkipped[100]], [false, true, false])
})
