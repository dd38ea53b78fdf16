import { generateKeyPairSync } from 'node:crypto'
import test from 'ava'
import { readConnection, readIdempotencyRecords } from '#test/features/messages/rows.ts'
import { connect, made, shareOffice } from '#test/features/messages/support.ts'

const fresh = shareOffice(test)

test('connections: a connection’s secrets are encrypted and never returned, except once the secret of its callbacks', async (t) => {
  const w = await fresh()
  const path = `${w.org.path}/messages/connections`
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 })
  const private_key = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const body = {
    name: 'Post',
    host: 'SMTP.Example.com',
    port: 465,
    username: 'shop',
    password: 'hush hush',
    from: 'Shop, Inc. <shop@example.com>',
  }
  const created = await w.org.owner.post(path, { ...body, dkim: { domain: 'example.com', selector: 's1', private_key } })
  t.is(created.status, 201)
  const { webhook_secret, ...view } = created.data
  t.regex(webhook_secret, /^[\w-]{43}$/)
  t.like(view, {
    name: 'Post',
    host: 'smtp.example.com',
    port: 465,
    secure: true,
    username: 'shop',
    from: 'Shop, Inc. <shop@example.com>',
    status: 'unchecked',
  })
  t.deepEqual(view.dkim, { domain: 'example.com', selector: 's1' })
  t.deepEqual((await w.org.owner.get(`${path}/${view.id}`)).data, view)
  t.deepEqual((await w.org.owner.get(path)).data, [view])
  const read = () => readConnection(w.db, view.id)
  const stored = await read()
  for (const secret of ['hush hush', webhook_secret, private_key.slice(100, 200)]) {
    t.false(Object.values(stored).some((cell) => (Buffer.isBuffer(cell) ? cell.includes(secret) : String(cell).includes(secret))))
  }
  t.like((await w.org.owner.patch(`${path}/${view.id}`, { ...view, dkim: { domain: 'example.com', selector: 's2' } })).data, {
    dkim: { domain: 'example.com', selector: 's2' },
  })
  t.true((await read()).dkim_key.equals(stored.dkim_key), 'a key that is not sent stays')
  const changed = await w.org.owner.patch(`${path}/${view.id}`, { name: 'Other', dkim: null })
  const keyless = await w.org.owner.patch(`${path}/${view.id}`, { dkim: { domain: 'example.com', selector: 's1' } })
  t.is(keyless.body.error.message, 'dkim.private_key is required')
  t.like(changed.data, { name: 'Other', host: 'smtp.example.com', username: 'shop', dkim: null })
  t.deepEqual(changed.data.warnings.length, 1, 'a connection without signatures gets a warning')
  t.deepEqual((await read()).password, stored.password)
  await w.org.owner.patch(`${path}/${view.id}`, { password: null, username: null })
  t.is((await read()).password, null)

  const key = { 'idempotency-key': 'once' }
  const [one, again] = [await w.org.owner.post(path, body, key), await w.org.owner.post(path, body, key)]
  t.deepEqual(one.data, again.data)
  t.false((await readIdempotencyRecords(w.db)).includes(one.data.webhook_secret))
})

test('connections: an invalid connection is refused, and the error names the field', async (t) => {
  const w = await fresh()
  const ed25519 = String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const dkim = { domain: 'example.com', selector: 's1', private_key: ed25519 }
  for (const [more, error] of [
    [{ name: '' }, /^name must be/],
    [{ name: 'a\nb' }, /^name must be/],
    [{ host: 'mail.example.com:25' }, /^host must be a name or an address/],
    [{ host: 'mail.example.com/x' }, /^host must be/],
    [{ host: 'a@b' }, /^host must be/],
    [{ port: 0 }, /^port must be at least 1/],
    [{ port: 65_536 }, /^port must be at most 65535/],
    [{ from: 'shop' }, /^from must be an address/],
    [{ from: 'a@example.com, b@example.com' }, /^from must be an address/],
    [{ from: 'Shop\r\nBcc: x@example.com <a@example.com>' }, /^from must have a name in one line/],
    [{ from: '"a" b" <a@example.com>' }, /^from must have a name in one line/],
    [{ dkim }, /^dkim.private_key must be an RSA private key/],
    [{ dkim: { ...dkim, selector: 'a; b' } }, /^dkim.selector must be/],
    [{ dkim: { ...dkim, domain: 'localhost' } }, /^dkim.domain must be a domain name/],
  ] as const) {
    const body = { name: 'Post', host: 'mail.example.com', from: 'shop@example.com', ...more }
    const answer = await w.org.owner.post(`${w.org.path}/messages/connections`, body)
    t.is(answer.status, 400, JSON.stringify(more))
    t.regex(answer.body.error.message, error)
    t.notRegex(answer.text, /BEGIN|MC4CAQ/)
  }
})

test('connections: a test of a connection signs in, disconnects, and returns the server’s answer', async (t) => {
  const w = await fresh()
  const check = async (id: string) => made(w.org.owner.post(`${w.org.path}/messages/connections/${id}/test`))
  const good = await connect(w.org, w.server.port)
  const taken = w.server.taken.length
  const checked = await check(good.id)
  t.like(checked, { id: good.id, status: 'ok', error: null })
  t.truthy(checked.checked_at)
  t.deepEqual((await w.org.owner.get(`${w.org.path}/messages/connections/${good.id}`)).data, checked)
  t.is(w.server.taken.length, taken, 'nothing is sent')
  const moved = await w.org.owner.patch(`${w.org.path}/messages/connections/${good.id}`, { host: '10.0.0.1' })
  t.like(moved.data, { status: 'unchecked', checked_at: null })
  t.like(await check(good.id), {
    status: 'failed',
    error: `10.0.0.1:${w.server.port} is no public address; the operator may open it with EGRESS_ALLOW`,
  })
  const local = await connect(w.org, 1)
  t.regex((await check(local.id)).error, /^127\.0\.0\.1:1 is no public address/)
})

test('connections: a password that is changed by an address with the id in capitals can be decrypted', async (t) => {
  const w = await fresh()
  const path = `${w.org.path}/messages/connections`
  const { id } = await connect(w.org, w.server.port)
  const changed = await w.org.owner.patch(`${path}/${id.toUpperCase()}`, { username: 'shop', password: 'hush hush' })
  t.is(changed.status, 200)
  t.like(await made(w.org.owner.post(`${path}/${id}/test`)), { id })
})

test('connections: another server or username drops the password that is not sent with it, and a warning says so', async (t) => {
  const w = await fresh()
  const path = `${w.org.path}/messages/connections`
  const stored = { name: 'Post', host: 'smtp.example.com', port: 465, username: 'shop', password: 'hush hush', from: 'a@example.com' }
  const removed = (names: string) => `The password was removed, because ${names} changed without it: send password again`
  const passwordOf = async (id: string) => (await readConnection(w.db, id)).password
  for (const [change, names] of [
    [{ host: 'mail.attacker.example' }, 'host'],
    [{ port: 587 }, 'port'],
    [{ secure: false }, 'secure'],
    [{ username: 'other' }, 'username'],
    [{ username: null, host: 'x.example.com' }, 'host, username'],
  ] as const) {
    const { id } = await made(w.org.owner.post(path, stored))
    const same = await w.org.owner.patch(`${path}/${id}`, { ...change, password: 'new one' })
    t.false(JSON.stringify(same.data.warnings).includes('password'), 'a password that is sent stays')
    t.truthy(await passwordOf(id))
    const other = await made(w.org.owner.post(path, stored))
    const moved = await w.org.owner.patch(`${path}/${other.id}`, change)
    t.is(moved.status, 200)
    t.is(moved.data.warnings.at(-1), removed(names))
    t.is(await passwordOf(other.id), null, names)
    t.is((await w.org.owner.patch(`${path}/${other.id}`, change)).data.warnings.length, 1, 'nothing is left to remove')
  }
  const { id } = await made(w.org.owner.post(path, stored))
  const kept = await w.org.owner.patch(`${path}/${id}`, { host: 'SMTP.example.com', port: 465, secure: true, username: 'shop', name: 'X' })
  t.is(kept.data.warnings.length, 1, 'equal settings are no change')
  t.truthy(await passwordOf(id))
})
