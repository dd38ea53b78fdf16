import test from 'ava'
import { normalizeContentPath } from '#shared/features/sites/content-path.ts'

test('path: every spelling of a path is normalized to one text', (t) => {
  const rows: readonly [string, string][] = [
    ['', 'index'],
    ['/', 'index'],
    ['/index', 'index'],
    ['/a', 'a'],
    ['/a/', 'a/index'],
    ['/a/b.html', 'a/b.html'],
    ['/%61/b', 'a/b'],
    ['/a%20b', 'a b'],
    ['/Ä/%C3%84', 'Ä/Ä'],
    ['/%25', '%'],
    ['/%252e%252e', '%2e%2e'],
    ['/a...b', 'a...b'],
    ['/...', '...'],
    ['/constructor/__proto__', 'constructor/__proto__'],
    [`/${'x'.repeat(1_024)}`, 'x'.repeat(1_024)],
  ]
  for (const [encoded, path] of rows) t.is(normalizeContentPath(encoded), path, encoded)
})

test('path: an invalid path names nothing', (t) => {
  const odd = [
    '//',
    '/a//b',
    '//a',
    '/a//',
    '/.',
    '/..',
    '/a/../b',
    '/./a',
    '/%2e',
    '/%2E%2e',
    '/a/%2e%2e/b',
    '/.%2e',
    '/a%2fb',
    '/a%5Cb',
    '/a\\b',
  ]
  const broken = [
    '/%',
    '/%zz',
    '/%c3',
    '/%ff',
    '/%00',
    '/a%0ab',
    '/%7f',
    '/%c2%85',
    '/%ed%a0%80',
    `/${'x'.repeat(1_025)}`,
    `/${'ä'.repeat(513)}`,
  ]
  for (const path of [...odd, ...broken]) t.is(normalizeContentPath(path), undefined, path)
})
