import { randomUUID } from 'node:crypto'
import test from 'ava'
import { countLeads, leads, makeForm, makeLeads, submissionsOf } from '#test/features/forms/making.ts'
import { atOnce, openArena, type Ring, rounds, tally } from '#test/races/arena.ts'
import { addFailedSubmission } from '#test/races/rows.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { createRole } from '#test/support/factories.ts'
import type { World } from '#test/support/world.ts'

const arena = openArena(test, { TRUST_PROXY: '1' })

/** A workspace of the test with a form that stores leads. */
async function begin(): Promise<{ w: World; ring: Ring; form: Awaited<ReturnType<typeof makeForm>> }> {
  const ring = await arena.ring()
  const w = { ...arena.world(), org: ring }
  await createRole(w, ring, [{ effect: 'allow', actions: ['forms:read', 'forms:submit'] }], true)
  await makeLeads(w)
  return { w, ring, form: await makeForm(w, leads) }
}

test('forms: one attempt sent 20 times at once, through API and page, is one submission and one record', async (t) => {
  const { w, form } = await begin()
  const visitors = arena.pair(w.visitor)
  for (let round = 1; round <= rounds; round++) {
    const id = randomUUID()
    const email = `${id}@example.com`
    const answers = await atOnce(20, visitors, (client, index) =>
      index % 4 < 2
        ? client.post(form.open, { values: { email } }, { 'idempotency-key': id, ...fromAnywhere() })
        : client.post(form.hosted, new URLSearchParams({ id, email }).toString(), {
            'content-type': 'application/x-www-form-urlencoded',
            ...fromAnywhere(),
          }),
    )
    t.deepEqual(tally(answers), { 200: 10, 201: 10 })
    t.is((await submissionsOf(w, form)).length, round)
    t.is(await countLeads(w), round)
  }
})

test('forms: a failed submission that is retried 20 times at once makes one record', async (t) => {
  const { w, ring, form } = await begin()
  for (let round = 1; round <= rounds; round++) {
    const id = randomUUID()
    await addFailedSubmission(w.db, ring.id, form.id, id, { email: `${id}@example.com` })
    const answers = await atOnce(20, ring.owners, (client) => client.post(`${ring.path}/forms/${form.id}/submissions/${id}/retry`))
    t.deepEqual(tally(answers), { 202: 20 })
    await w.drain()
    t.is(await countLeads(w), round)
  }
})

test('forms: a submission to a form that is unpublished or deleted meanwhile is stored completely or refused', async (t) => {
  const { w, ring } = await begin()
  for (let round = 0; round < rounds / 2; round++) {
    const form = await makeForm(w, {}, `closing_${round}`)
    const body = { key: form.key, name: 'Closed', fields: [{ key: 'email', label: 'E', type: 'email' }], published: false }
    const [, answers] = await Promise.all([
      ring.owner.put(`${ring.path}/forms/${form.id}`, body),
      atOnce(20, arena.pair(w.visitor), (client) => client.post(form.open, { values: { email: 'a@example.com' } }, fromAnywhere())),
    ])
    const { 201: kept = 0, 404: refused = 0 } = tally(answers)
    t.is(kept + refused, 20)
    t.is((await submissionsOf(w, form)).length, kept)
    t.is((await w.visitor.post(form.open, { values: { email: 'a@example.com' } }, fromAnywhere())).status, 404)
  }
})

test('forms: 30 of 50 submissions of one /64 at both processes, to several forms, are accepted', async (t) => {
  const { w } = await begin()
  const forms = [await makeForm(w, {}, 'one'), await makeForm(w, {}, 'two')]
  for (let round = 0; round < rounds / 4; round++) {
    const net = `2001:db8:${round}:7`
    const answers = await atOnce(50, arena.pair(w.visitor), (client, index) =>
      client.post(
        forms[index % 3 === 0 ? 1 : 0]?.open ?? '',
        { values: { email: 'a@example.com' } },
        { 'x-forwarded-for': `${net}::${index}` },
      ),
    )
    t.deepEqual(tally(answers), { 201: 30, 429: 20 })
    for (const { status, headers } of answers) if (status === 429) t.regex(headers.get('retry-after') ?? '', /^\d+$/)
    // Reading a form does not count as a submission.
    t.is((await w.visitor.get(forms[0]?.hosted ?? '', { 'x-forwarded-for': `${net}::1` })).status, 200)
  }
})
