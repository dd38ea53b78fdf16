import test from 'ava'
import { compileClosed } from '#test/support/closed-schema.ts'
import { holdContract } from '#test/support/contract.ts'

const requestId = 'r-1'
const job = '/v1/orgs/0198c8f0-0000-7000-8000-000000000000/jobs/0198c8f0-0000-7000-8000-000000000001'
const data = {
  id: '0198c8f0-0000-7000-8000-000000000001',
  kind: 'records.import',
  status: 'done',
  progress: null,
  result: { anything: true },
  error: null,
  created_at: '2026-11-21T00:00:00Z',
  started_at: null,
  finished_at: null,
}
const error = { code: 'NOT_FOUND', message: 'Not found', request_id: requestId }

const breach = (path: string, status: number, body: unknown, headers: Record<string, string> = {}): string | undefined => {
  const all = new Headers({ 'x-request-id': requestId, 'content-type': 'application/json; charset=utf-8', ...headers })
  try {
    holdContract('GET', path, { status, body, text: body === undefined ? '' : JSON.stringify(body), headers: all })
    return undefined
  } catch (refusal) {
    return (refusal as Error).message
  }
}

test('contract: a response that matches its description passes', (t) => {
  t.is(breach(job, 200, { data }), undefined)
  t.is(breach(`${job}?x=1`, 404, { error }), undefined)
  t.is(breach('/v1/nowhere', 404, { error }), undefined)
})

test('contract: a response that differs from its description fails', (t) => {
  t.regex(breach(job, 200, { data: { ...data, secret: 1 } }) ?? '', /must NOT have additional properties: secret/)
  t.regex(breach(job, 200, { data, more: 1 }) ?? '', /must NOT have additional properties: more/)
  t.regex(breach(job, 200, { data: { ...data, progress: { done: 1, total: 2, rest: 3 } } }) ?? '', /rest/)
  t.regex(breach(job, 200, { data: { ...data, status: 'over' } }) ?? '', /allowed values/)
  t.regex(breach(job, 200, { data: { ...data, created_at: 'yesterday' } }) ?? '', /date-time/)
  t.regex(breach(job, 200, { data }, { 'content-type': 'text/html' }) ?? '', /content type text\/html/)
  t.regex(breach(job, 201, { data }) ?? '', /not documented/)
  t.regex(breach(job, 200, { data }, { 'x-request-id': 'no id' }) ?? '', /request id/)
})

test('contract: a failure of another form, with another status or an unknown code fails', (t) => {
  const shape = /its body is not/
  t.regex(breach(job, 404, { error: { ...error, stack: 'at' } }) ?? '', shape)
  t.regex(breach(job, 404, { error, data: null }) ?? '', shape)
  t.regex(breach(job, 404, { error: { ...error, request_id: 'other' } }) ?? '', shape)
  t.regex(breach(job, 404, { error: { ...error, message: '' } }) ?? '', shape)
  t.regex(breach(job, 400, { error }) ?? '', shape)
  t.regex(breach(job, 404, undefined) ?? '', shape)
  t.regex(breach(job, 409, { error: { ...error, code: 'KEY_TAKEN' } }) ?? '', /`fails`/)
  t.regex(breach(job, 403, { error: { ...error, code: 'FORBIDDEN' } }) ?? '', /`fails`/)
  t.regex(breach('/v1/nowhere', 200, { data }) ?? '', /no route/)
})

test('contract: parts of an intersection are closed together, and parts of a union separately', (t) => {
  const a = { type: 'object', properties: { a: { type: 'object', properties: { b: {} } } } }
  const check = compileClosed('intersection', { allOf: [{ $ref: '#/components/schemas/A' }, { properties: { c: {} } }] }, { A: a })
  t.is(check({ a: { b: 1 }, c: 2 }), undefined)
  t.regex(check({ a: {}, d: 1 }) ?? '', /: d/)
  t.regex(check({ a: { d: 1 } }) ?? '', /: d/)
  const union = compileClosed('union', { anyOf: [{ $ref: '#/components/schemas/A' }, { type: 'null' }] }, { A: a })
  t.is(union(null), undefined)
  t.regex(union({ d: 1 }) ?? '', /: d/)
})
