import test from 'ava'
import { unsubscribeHeaders } from '#shared/features/messages/do-not-contact/unsubscribe.ts'
import { sendMessage } from '#shared/features/messages/sending/send.ts'
import { atOnce, made, openArena, rounds, tally } from '#test/races/arena.ts'
import { addSentMessages } from '#test/races/rows.ts'
import { scopeOf } from '#test/support/scope.ts'

const arena = openArena(test)

test('messages: one of 20 sends under one deduplication key sends the message, and all get its id', async (t) => {
  for (let round = 0; round < rounds; round++) {
    const ring = await arena.ring()
    const body = { name: 'Post', host: '10.0.0.1', from: 'a@example.com' }
    const { id: connection_id } = await made(ring.owner.post(`${ring.path}/messages/connections`, body))
    const scope = await scopeOf(arena.world(), ring)
    const message = { connection_id, to: 'ann@example.com', subject: 'A', body_text: 'B' }
    const sent = await Promise.all(Array.from({ length: 20 }, () => sendMessage(scope, message, { deduplicationKey: 'run:node:0' })))
    t.is(new Set(sent.map(({ message_id }) => message_id)).size, 1)
    t.is((await made(ring.owner.get(`${ring.path}/messages`))).length, 1)
    await arena.world().drain()
  }
})

test('messages: 20 clicks at once on links of one address all succeed and add one entry to the list', async (t) => {
  await arena.open()
  const { config, db } = arena.world()
  for (let round = 0; round < rounds; round++) {
    const ring = await arena.ring()
    const links = (await addSentMessages(db, ring.id, 5)).map(
      (id) => /\/unsubscribe\/[\w-]+/.exec(unsubscribeHeaders(config, ring.id, id)['List-Unsubscribe'] ?? '')?.[0] ?? '',
    )
    const answers = await atOnce(20, ring.owners, (client, index) =>
      client.send('POST', links[index % 5] ?? '', 'List-Unsubscribe=One-Click', { 'content-type': 'application/x-www-form-urlencoded' }),
    )
    t.deepEqual(tally(answers), { 200: 20 })
    t.is((await made(ring.owner.get(`${ring.path}/messages/do-not-contact`))).length, 1)
  }
})
