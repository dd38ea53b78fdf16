import { randomUUID } from 'node:crypto'
import test from 'ava'
import { addDoNotContact, addInvitationMail, addMessages } from '#test/features/messages/rows.ts'
import { made } from '#test/features/messages/support.ts'
import { linkedPages } from '#test/support/linked-pages.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const fresh = shareWorld(test)

test('lists: templates are created, changed, listed and deleted; their HTML has variables only where they can be escaped', async (t) => {
  const { org } = await fresh()
  const path = `${org.path}/messages/templates`
  const created = await org.owner.post(path, { name: 'Order', subject: 'Order {{number}}', body_html: '<p>{{x}}</p>' })
  t.is(created.status, 201)
  t.like(created.data, { name: 'Order', subject: 'Order {{number}}', body_text: '', body_html: '<p>{{x}}</p>' })
  const one = `${path}/${created.data.id}`
  t.like((await org.owner.patch(one, { body_text: 'Text' })).data, {
    subject: 'Order {{number}}',
    body_text: 'Text',
    body_html: '<p>{{x}}</p>',
  })
  t.is((await made(org.owner.get(path))).length, 1)
  for (const body of [{ body_html: '<a {{x}}>' }, { name: '' }, { subject: 'x'.repeat(501) }, { body_text: 'x'.repeat(200_001) }]) {
    t.is((await org.owner.patch(one, body)).status, 400)
    t.is((await org.owner.post(path, { name: 'A', subject: 'B', ...body })).status, 400)
  }
  t.is((await org.owner.post(path, { name: 'A' })).body.error.message, 'subject is required')
  t.is((await org.owner.post(path, { name: 'A', subject: 'x'.repeat(500), body_text: 'x'.repeat(200_000) })).status, 201)
  t.is((await org.owner.delete(one)).status, 204)
  t.is((await org.owner.get(one)).status, 404)
})

test('lists: messages and the do-not-contact list are read in pages, each after the last of the previous one', async (t) => {
  const { org, db } = await fresh()
  const newest = (await addMessages(db, org.id, 7)).reverse()
  await addInvitationMail(db, org.id)
  const pages = await linkedPages<{ id: string }>(org.owner, `${org.path}/messages?limit=3`)
  t.deepEqual(
    pages.map((page) => page.map(({ id }) => id)),
    [newest.slice(0, 3), newest.slice(3, 6), newest.slice(6)],
  )
  t.is((await made(org.owner.get(`${org.path}/messages?status=failed`))).length, 4)
  t.deepEqual(await made(org.owner.get(`${org.path}/messages?record_id=${randomUUID()}`)), [])
  for (const query of ['cursor=x', `cursor=${newest[0]}`, 'limit=0', 'limit=201', 'status=lost', 'record_id=x']) {
    t.is((await org.owner.get(`${org.path}/messages?${query}`)).status, 400, query)
  }
  await addDoNotContact(db, org.id, 5)
  const list = `${org.path}/messages/do-not-contact`
  const addresses = await linkedPages<{ address: string }>(org.owner, `${list}?limit=2`)
  t.deepEqual(
    addresses.map((page) => page.map(({ address }) => address[0]).join('')),
    ['ab', 'cd', 'e'],
  )
  for (const query of ['cursor=b', 'cursor=b@example.com', 'limit=0', 'limit=201'])
    t.is((await org.owner.get(`${list}?${query}`)).status, 400, query)
})
