import test from 'ava'
import { migrate } from '#shared/platform/db/migrate.ts'
import { addKeys, forgetKeyForm } from '#test/features/drive/rows.ts'
import { firstSpaces, outcomeOf, spaceOf } from '#test/features/drive/support.ts'
import { createMember, createOrg } from '#test/support/factories.ts'
import { shareWorld } from '#test/support/shared-world.ts'

const start = shareWorld(test)
const opened = async () => {
  const w = await start()
  const org = await createOrg(w)
  const { main } = await firstSpaces(org.owner, org)
  return { w, org, main, space: spaceOf(org.owner, org, main) }
}

const composed = 'Gr\u00f6\u00dfe'
const decomposed = composed.normalize('NFD')

test('unicode: a file is written, read, listed, moved and deleted under either form of its key', async (t) => {
  const { space } = await opened()
  for (const [first, second] of [
    [composed, decomposed],
    [decomposed, composed],
  ] as const) {
    t.is((await space.put(`${first}/${first}.pdf`, 'one')).data.key, `${composed}/${composed}.pdf`)
    t.is((await space.download(`${second}/${second}.pdf`)).text, 'one')
    t.is((await space.put(`${second}/${second}.pdf`, 'two')).status, 200, 'one name, so the file is replaced')
    await space.makeFolder(`${first}/${first}/`)
    t.deepEqual(await space.all(`${second}/`), { folders: [`${composed}/${composed}/`], keys: [`${composed}/${composed}.pdf`] })
    t.is((await space.list({ q: second })).data.objects.length, 1)
    t.is(outcomeOf(await space.move(`${first}/`, `${second}/`)), '400 VALIDATION_ERROR', 'the same key')
    t.deepEqual((await space.move(`${second}/`, `b${first}/`)).data, { moved: 1 })
    t.deepEqual(await space.all(), { folders: [`b${composed}/`], keys: [] })
    t.deepEqual((await space.remove(`b${decomposed}/`)).data, { deleted: 1 })
  }
})

test('unicode: a share of a folder covers it in either form', async (t) => {
  const { w, org, main, space } = await opened()
  const { client, id } = await createMember(w, org)
  await space.put(`${composed}/a`)
  t.is((await space.share({ prefix: `${decomposed}/`, user_id: id, mode: 'view' })).data.prefix, `${composed}/`)
  t.is((await space.share({ prefix: `${composed}/`, user_id: id, mode: 'edit' })).status, 200, 'one place')
  const seen = spaceOf(client, org, main)
  t.is((await seen.download(`${decomposed}/a`)).status, 200)
  t.is((await seen.put(`${decomposed}/b`)).data.key, `${composed}/b`)
  t.is(outcomeOf(await seen.download(`${decomposed}2/a`)), '404 NOT_FOUND')
})

test('unicode: the length of a key counts in its stored form', async (t) => {
  const { space } = await opened()
  t.is((await space.put('\u00f6'.repeat(512).normalize('NFD'))).status, 201)
  t.is(outcomeOf(await space.put('\u00f6'.repeat(513).normalize('NFD'))), '400 VALIDATION_ERROR')
  t.is(outcomeOf(await space.put('\u0958'.repeat(200))), '400 VALIDATION_ERROR', '600 bytes, 1,200 in NFC')
})

test('unicode: keys from before get one form, except a name that is there in both', async (t) => {
  const { w, org, space } = await opened()
  await space.put('seed', 'old')
  await space.put(`pair/${composed}`, 'new')
  await addKeys(w.db, org.id, 'seed', [`pair/${decomposed}`, `${decomposed}/${decomposed}`])
  t.is((await space.download(`pair/${decomposed}`)).text, 'old')
  await forgetKeyForm(w.db)
  await migrate(w.config.databaseUrl)
  t.is((await space.download(`${composed}/${composed}`)).text, 'old')
  t.is((await space.download(`pair/${decomposed}`)).text, 'old')
  t.is((await space.download(`pair/${composed}`)).text, 'new')
  t.is(outcomeOf(await space.move(`pair/${decomposed}`, `pair/${composed}`)), '409 KEY_TAKEN')
  t.is((await space.remove(`pair/${decomposed}`)).status, 200)
  t.is((await space.download(`pair/${decomposed}`)).text, 'new', 'no longer a pair')
})
