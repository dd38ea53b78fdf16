import test from 'ava'
import { lastSeq, readAll } from '#test/core/events/reading.ts'
import { admitVisitors, leads, makeForm, makeLeads, sendPage, submissionsOf } from '#test/features/forms/making.ts'
import { fromAnywhere } from '#test/support/account.ts'
import { createMember } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test, { TRUST_PROXY: '1' })

test('events: a submission is an event for who manages its form, spam once it is accepted, and its record is another', async (t) => {
  const w = await start()
  await admitVisitors(w)
  await makeLeads(w)
  const [plain, made] = [await makeForm(w), await makeForm(w, leads, 'leads')]
  const after = await lastSeq(w)
  await sendPage(w, plain.hosted, { email: 'planted@example.com' }, fromAnywhere())
  await sendPage(w, made.hosted, { email: 'b@example.com', 'company-website': 'https://spam.example' }, fromAnywhere())
  await submissionsOf(w, made)
  const manager = await createMember(w, w.org, [{ effect: 'allow', actions: ['forms:manage'], resources: ['leads'] }])
  const brief = async (client = w.org.owner) =>
    (await readAll(w, client, after)).map(({ type, actor, cause, subject, data }) => ({ type, actor, cause: cause.kind, subject, data }))
  const [sent] = await submissionsOf(w, plain)
  const submitted = { type: 'forms.submitted', actor: { id: null, type: 'anonymous' }, cause: 'request', data: {} }
  t.deepEqual(await brief(), [{ ...submitted, subject: { form: plain.id, id: sent?.id ?? '' } }])
  t.deepEqual(await brief(manager.client), [])
  const [spam] = await submissionsOf(w, made)
  await w.org.owner.post(`${w.org.path}/forms/${made.id}/submissions/${spam?.id}/retry`)
  await w.drain()
  const accepted = { ...submitted, actor: { id: w.org.ownerId, type: 'user' }, subject: { form: made.id, id: spam?.id ?? '' } }
  t.deepEqual(await brief(manager.client), [accepted])
  const [, second, record] = await brief()
  t.deepEqual(second, accepted)
  t.like(record, { type: 'records.created', cause: 'form', subject: { object_type: 'leads' } })
  await w.org.owner.delete(`${w.org.path}/forms/${made.id}`)
  t.deepEqual(await brief(manager.client), [])
  t.is((await brief()).length, 3)
})
