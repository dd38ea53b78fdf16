import test from 'ava'
import { isNotModified } from '#api/http/reply/conditions.ts'
import { Problem } from '#shared/platform/kernel/errors.ts'

const version = { etag: '"one"', changedAt: new Date('2026-03-01T10:00:00.700Z') }
const [earlier, same, later] = ['Sun, 01 Mar 2026 09:59:59 GMT', 'Sun, 01 Mar 2026 10:00:00 GMT', 'Sun, 01 Mar 2026 10:00:01 GMT']

type Headers = Readonly<Record<string, string>>

/** The result of a GET's conditions by RFC 9110, 13.2.2. */
const cases: readonly [200 | 304 | 412, Headers][] = [
  [200, {}],
  [200, { 'if-match': '"one"' }],
  [200, { 'if-match': '"other", "one"' }],
  [200, { 'if-match': '*' }],
  [412, { 'if-match': '"other"' }],
  [412, { 'if-match': 'W/"one"' }],
  [412, { 'if-match': 'one' }],
  [200, { 'if-unmodified-since': same }],
  [200, { 'if-unmodified-since': later }],
  [412, { 'if-unmodified-since': earlier }],
  [412, { 'if-unmodified-since': 'Sunday, 01-Mar-26 09:59:59 GMT' }],
  [412, { 'if-unmodified-since': 'Sun Mar  1 09:59:59 2026' }],
  [200, { 'if-unmodified-since': 'yesterday' }],
  [200, { 'if-unmodified-since': '2020-01-01T00:00:00Z' }],
  [200, { 'if-match': '"one"', 'if-unmodified-since': earlier }],
  [412, { 'if-match': '"other"', 'if-none-match': '"one"' }],
  [304, { 'if-match': '"one"', 'if-none-match': '"one"' }],
  [304, { 'if-none-match': 'W/"one"' }],
  [200, { 'if-none-match': '"other"', 'if-modified-since': later }],
  [304, { 'if-modified-since': same }],
  [304, { 'if-modified-since': later }],
  [200, { 'if-modified-since': earlier }],
  [200, { 'if-modified-since': 'tomorrow' }],
  [412, { 'if-unmodified-since': earlier, 'if-modified-since': later }],
]

function answerTo(headers: Headers): number {
  try {
    return isNotModified((name) => headers[name] ?? '', version) ? 304 : 200
  } catch (error) {
    if (error instanceof Problem) return error.status
    throw error
  }
}

for (const [status, headers] of cases) test(`conditions: ${JSON.stringify(headers)} is ${status}`, (t) => t.is(answerTo(headers), status))
