import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { sealedColumns } from '#shared/features.ts'
import { declaredStatements } from '#shared/platform/db/statements/statement.ts'
import { createEncryptor } from '#shared/platform/kernel/crypto/encryption.ts'
import { createSigner } from '#shared/platform/kernel/crypto/signatures.ts'
import { callKontor, callWith } from '#test/bin/call.ts'
import { forgetKeys, keyStates } from '#test/platform/secrets/rows.ts'
import { eventually } from '#test/support/eventually.ts'
import { startProcess } from '#test/support/process.ts'
import { world } from '#test/support/world.ts'

test('secret key: while a rotation lasts the other key opens and verifies, and only the own one seals and signs', (t) => {
  const [one, two] = [randomBytes(32), randomBytes(32)]
  const [before, during, after] = [
    { secretKey: one, otherSecretKey: null },
    { secretKey: two, otherSecretKey: one },
    { secretKey: two, otherSecretKey: null },
  ]
  const [sealedBefore, sealedDuring] = [before, during].map((keys) => createEncryptor(keys, 'a').encrypt('text', 'place')) as [
    Buffer,
    Buffer,
  ]
  t.is(createEncryptor(during, 'a').decrypt(sealedBefore, 'place'), 'text')
  t.is(createEncryptor(after, 'a').decrypt(sealedDuring, 'place'), 'text')
  t.throws(() => createEncryptor(before, 'a').decrypt(sealedDuring, 'place'))
  t.throws(() => createEncryptor(during, 'a').decrypt(sealedBefore, 'other place'))
  t.throws(() => createEncryptor(during, 'b').decrypt(sealedBefore, 'place'))
  const renewed = createEncryptor(during, 'a').renew(sealedBefore, 'place')
  t.is(createEncryptor(after, 'a').decrypt(renewed as Buffer, 'place'), 'text')
  t.is(createEncryptor(during, 'a').renew(sealedDuring, 'place'), 'current')
  t.is(createEncryptor(after, 'a').renew(sealedBefore, 'place'), 'unreadable')

  const [signedBefore, signedDuring] = [before, during].map((keys) => createSigner(keys, 'a').sign('text')) as [string, string]
  t.true(createSigner(during, 'a').verify('text', signedBefore))
  t.true(createSigner(after, 'a').verify('text', signedDuring))
  t.false(createSigner(before, 'a').verify('text', signedDuring))
  t.false(createSigner(after, 'a').verify('text', signedBefore))
})

test('secret key: every column of sealed values is named in a manifest, so that a rotation seals it anew', (t) => {
  const declared = declaredStatements().flatMap(({ name }) =>
    name.startsWith('secrets.find ') ? [name.slice('secrets.find '.length)] : [],
  )
  t.deepEqual(sealedColumns.map(({ name }) => name).sort(), declared.sort())
  t.true(declared.length >= 9)
})

test('secret key: a process with another key than the others refuses to start, by one line and exit code 78', async (t) => {
  const w = await world()
  t.teardown(w.close)
  await w.org.owner.put(`${w.org.path}/functions/secrets/PIN`, { value: '1' })
  const wrong = { SECRET_KEY: randomBytes(32).toString('hex'), LOG_LEVEL: 'info', PORT: '0' }
  const startWrong = async (name: string, environment: Readonly<Record<string, string>> = wrong) => {
    const child = await startProcess(t, w, name, environment)
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    return {
      code,
      lines: output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    }
  }
  const sentence = 'refused to start: SECRET_KEY is not the key of this installation: '
  for (const name of ['api', 'mail']) {
    const { code, lines } = await startWrong(name)
    t.is(code, 78)
    t.is(lines.length, 1)
    t.is(lines[0].level, 60)
    t.true(lines[0].msg.startsWith(sentence), lines[0].msg)
  }

  const invalid = await startWrong('mail', { ...wrong, SECRET_KEY: 'short', PORT: '99999' })
  t.deepEqual([invalid.code, invalid.lines.length], [78, 1])
  t.regex(
    invalid.lines[0].msg,
    /^refused to start: the environment does not fit:\n {2}PORT must be .* 0 to 65535, got 99999\n {2}SECRET_KEY must be 32 /,
  )

  // A database of before the check value: the stored secrets tell.
  await forgetKeys(w.db)
  const { code, lines } = await startWrong('api')
  t.is(code, 78)
  t.true(lines[0].msg.startsWith('refused to start: SECRET_KEY does not open what is sealed in this database: '), lines[0].msg)
  t.deepEqual(await keyStates(w.db), [])
  t.is((await callKontor(w, 'bootstrap')).code, 0)
  t.deepEqual(await keyStates(w.db), ['current'])
})

test('secret key: commands are refused with another key, until it is adopted', async (t) => {
  const w = await world({}, [])
  t.teardown(w.close)
  const environment = { DATABASE_URL: w.config.databaseUrl, DATA_DIR: w.config.dataDir, SECRET_KEY: randomBytes(32).toString('hex') }
  const refused = await callWith(environment, 'bootstrap')
  t.is(refused.code, 1)
  t.regex(refused.err, /^SECRET_KEY is not the key of this installation: .*\n$/)
  const listed = await callWith(environment, 'org', 'list')
  t.deepEqual([listed.code, listed.err.split(':')[0]], [1, 'SECRET_KEY is not the key of this installation'])
  t.is((await callWith({ ...environment, SECRET_KEY: '' }, 'org', 'list')).code, 0)
  t.is((await callWith(environment, 'secret', 'adopt')).code, 2)
  t.regex((await callWith(environment, 'secret', 'adopt', '--yes')).err, /^Processes still seal under another key, .*kontor api/)
  await w.api.stop(1_000)
  await w.worker.stop(1_000)
  await eventually(async () => (await callWith(environment, 'secret', 'adopt', '--yes')).code === 0)
  t.is((await callWith(environment, 'bootstrap')).code, 0)
  t.is((await callKontor(w, 'bootstrap')).code, 1)
})
