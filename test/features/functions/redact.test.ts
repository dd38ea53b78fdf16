import test from 'ava'
import { createSecretRedactor, cutPartialSecret, type RunQueued, redactKnownSecrets } from '#workers/features/functions/redact-secrets.ts'

const atOnce: RunQueued = async (_characters, work) => work()

test('redact: the longest part of a secret at the end of cut text is removed', (t) => {
  const forms = ['abcabd', 'bca', 'x']
  const cases: readonly (readonly [string, string])[] = [
    ['..abc', '..[secret]'],
    ['..abcab', '..[secret]'],
    ['..a', '..[secret]'],
    ['..b', '..[secret]'],
    ['..c', '..c'],
    ['..x', '..x'],
    ['', ''],
    ['abcab', '[secret]'],
    ['bcabcab', 'bc[secret]'],
  ]
  for (const [text, clean] of cases) t.is(cutPartialSecret(text, forms), clean, text)
  t.is(cutPartialSecret('abc', []), 'abc')
})

test('redact: secrets that nearly match everywhere take no longer than others', async (t) => {
  const { conceal, forms } = createSecretRedactor()
  const length = 4_000
  for (let number = 0; number < 50; number++) conceal(`${'a'.repeat(length)}${number}"`)
  const text = 'a'.repeat(256 * 1024)
  const texts = [text, `${'a'.repeat(length)}7"${text}`]
  const clean = await redactKnownSecrets(texts, JSON.stringify(texts), forms(), atOnce)
  t.deepEqual(clean, [text, `[secret]${text}`])
  t.is(cutPartialSecret(text, forms()), `${text.slice(length)}[secret]`)
})
