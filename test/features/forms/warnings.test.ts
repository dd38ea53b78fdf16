import test from 'ava'
import { at, makeCalendar } from '#test/features/calendar/support.ts'
import { createOrg, createRole } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const shared = shareWorld(test)
const allow = (...actions: string[]) => ({ effect: 'allow', actions })

test('warnings: a published page that no visitor may open names the missing permission; a draft does not', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const form = { key: 'contact', name: 'Contact', fields: [] }
  const draft = await org.owner.post(`${org.path}/forms`, form)
  t.is(draft.status, 201, draft.text)
  t.false('warnings' in draft.data)
  const published = await org.owner.put(`${org.path}/forms/${draft.data.id}`, { ...form, published: true })
  t.is(published.data.warnings.length, 2)
  t.regex(
    published.data.warnings[0],
    /^Visitors lack forms:read on contact: .*"actions":\["forms:read"\],"resources":\["contact"\].*is_anonymous/,
  )
  t.regex(published.data.warnings[1], /^Visitors lack forms:submit on contact/)
  const site = await org.owner.post(`${org.path}/sites`, { key: 'shop', name: 'Shop' })
  t.false('warnings' in site.data, site.text)
  const put = (body: object) => org.owner.put(`${org.path}/sites/${site.data.id}/content/home`, body)
  t.false('warnings' in (await put({ title: 'Home' })).data)
  const early = (await put({ title: 'Home', published: true })).data.warnings
  t.regex(early[0], /^The website shop is not published/)
  t.regex(early[1], /^Visitors lack content:deliver on shop/)
  const opened = await org.owner.patch(`${org.path}/sites/${site.data.id}`, { published: true })
  t.is(opened.data.warnings.length, 1, opened.text)
  await createRole(w, org, [allow('forms:read', 'forms:submit', 'content:deliver')], true)
  await w.api.services.cache.refresh()
  t.false('warnings' in (await org.owner.put(`${org.path}/forms/${draft.data.id}`, { ...form, published: true })).data)
  t.false('warnings' in (await put({ title: 'Home', published: true })).data)
  t.false('warnings' in (await org.owner.patch(`${org.path}/sites/${site.data.id}`, { published: true })).data)
})

test('warnings: an enabled booking page without hours has a warning', async (t) => {
  const w = await shared()
  const org = await createOrg(w)
  const calendar = await makeCalendar(t, { org }, { settings: { booking: { enabled: true, hours: {} } } })
  t.regex(calendar.warnings[0], /^The booking page has no hours/)
  const change = async (booking: object) =>
    (await org.owner.patch(at({ org }, `/calendars/${calendar.id}`), { settings: { booking } })).data
  t.is((await change({ enabled: true, hours: { mon: [] } })).warnings.length, 1)
  t.false('warnings' in (await change({ enabled: false, hours: {} })))
  t.false('warnings' in (await change({ enabled: true, hours: { mon: [['09:00', '10:00']] } })))
  t.false('warnings' in (await change({ enabled: true })), 'office hours are the default')
})
