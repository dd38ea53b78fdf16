import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { ensureSecretKey } from '#scripts/start/secret-key.ts'

test('secret: the secret key of a data folder is created once, and an invalid file is named and left alone', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kontor-secret-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const made = ensureSecretKey(folder)
  t.regex(made, /^[0-9a-f]{64}$/)
  t.is(ensureSecretKey(folder), made)
  const file = join(folder, 'secret-key')
  for (const broken of ['', `${made.slice(1)}\n`, 'words']) {
    writeFileSync(file, broken)
    t.throws(() => ensureSecretKey(folder), { message: new RegExp(`^${file} holds no secret key`) })
    t.is(readFileSync(file, 'utf8'), broken)
  }
})
