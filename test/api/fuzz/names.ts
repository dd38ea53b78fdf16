import fc from 'fast-check'
import { anyJson, type Names } from '#test/api/fuzz/from-schema.ts'
import { anyText } from '#test/api/fuzz/texts.ts'
import { echo } from '#test/support/things.ts'

/** A field of each type; its key is `a_` and the type. */
export const fieldTypes = 'string text number bool date datetime currency select multiselect email url file ref refs'.split(' ')

/** Existing things that a request can name: several of a kind that requests use up, none of a kind that no request needs. */
export interface Ids {
  readonly orgId: string
  /** In the order of `fieldTypes`. */
  readonly fieldIds: readonly string[]
  readonly records: readonly string[]
  readonly ruleIds: readonly string[]
  readonly functionIds: readonly string[]
  readonly runIds: readonly string[]
  readonly roleIds: readonly string[]
  readonly memberIds: readonly string[]
  readonly serviceId: string
  readonly keyIds: readonly string[]
  readonly invitationIds: readonly string[]
  readonly notificationIds: readonly string[]
  readonly secrets: readonly string[]
  readonly jobIds: readonly string[]
  readonly emails: readonly string[]
  readonly password: string
  /** Tokens of mails, to join or to set a password. */
  readonly tokens: readonly string[]
}

const one = <T>(...values: readonly T[]) => fc.constantFrom(...values)
/** One of the existing things; no request asks for a kind without any. */
const oneOf = (ids: readonly string[]) => one(...(ids.length > 0 ? ids : ['none']))
/** Mostly a known value, since a wrong password costs as much time as a right one. */
const mostly = (value: string) => fc.oneof({ weight: 5, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: anyText })

/** Values for each name in a path, query or body, so that requests find something. */
export function namesOf(ids: Ids): Names {
  const { orgId, fieldIds, records, functionIds, roleIds, memberIds, serviceId, keyIds, emails, password, tokens } = ids
  const typeKey = one('thing', 'thing', 'thing', 'accounts')
  const fieldKey = fc.oneof(one(...fieldTypes.map((type) => `a_${type}`)), one('created_at', 'id', 'nothing'))
  const values = valuesOf(fieldKey, records)
  const condition = fc.record({
    field: fieldKey,
    op: one('eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'contains'),
    value: cell(records),
  })
  return {
    orgId: fc.oneof({ weight: 30, arbitrary: fc.constant(orgId) }, { weight: 1, arbitrary: anyText }),
    typeKey,
    object_type: typeKey,
    entity_type: typeKey,
    ref_type: typeKey,
    resource: typeKey,
    // Half of them are the fields with the most uses: a text, a number and two references.
    fieldId: fc.oneof(
      one(...fieldIds),
      one(...['string', 'string', 'number', 'ref', 'refs'].map((type) => fieldIds[fieldTypes.indexOf(type)])),
    ),
    recordId: one(...records),
    record_id: one(...records),
    ref_id: one(...records),
    ref_field: one('a_ref', 'a_refs', 'a_string'),
    by: one('a_email', 'a_string'),
    values,
    attrs: values,
    fields: fc.array(fieldKey, { minLength: 1, maxLength: 3 }).map((keys) => keys.join()),
    sort: fc.array(fieldKey, { minLength: 1, maxLength: 3 }).map((keys) => keys.join()),
    filter: fc.array(condition, { maxLength: 3 }).map((conditions) => JSON.stringify(conditions)),
    groupId: one(...roleIds),
    role_ids: one(roleIds, []),
    userId: one(...memberIds, serviceId),
    user_id: one(...memberIds, serviceId),
    actor: one(...memberIds, serviceId),
    ':id': one(serviceId),
    id: one(...records),
    keyId: oneOf(keyIds),
    invitationId: oneOf(ids.invitationIds),
    notificationId: oneOf(ids.notificationIds),
    runId: oneOf(ids.runIds),
    email: fc.oneof(one(...emails), fc.emailAddress()),
    password: mostly(password),
    current: mostly(password),
    next: mostly('another password'),
    token: fc.oneof({ weight: 5, arbitrary: oneOf(tokens) }, { weight: 1, arbitrary: anyText }),
    ruleId: oneOf(ids.ruleIds),
    fnId: oneOf(functionIds),
    functionId: oneOf(functionIds),
    version: one('1', '2'),
    from: instant,
    to: instant,
    expires_at: one('2099-01-01T00:00:00Z', null),
    rules: one({}),
    ui: one({}, { color: 'red' }),
    description: one('What it is'),
    title: one('New {{a_string}}'),
    timeout_ms: one(1_000, 60_000),
    dir: one('asc', 'desc'),
    slug: one('menu', 'other'),
    jobId: oneOf(ids.jobIds),
    actions: fc.subarray(['records:*', 'records:read', 'types:read', '*', 'iam:*'], { minLength: 1 }),
    condition: fc.dictionary(fieldKey, fc.dictionary(one('eq', 'ne', 'gt', 'nin', 'contains'), cell(records), { maxKeys: 2 }), {
      maxKeys: 2,
    }),
    formula: fc
      .array(
        fc.oneof(
          one('a_number', 'a_number+1', '1', '"a"', 'a_number', '+', '*', '(', ')', ',', 'IF(', 'ROUND(', 'CONCAT(', '&', '-'),
          anyText,
        ),
        {
          maxLength: 8,
        },
      )
      .map((parts) => parts.join('')),
    pattern: fc.oneof(
      one('{seq}', 'A-{yyyy}-{seq:4:yearly}'),
      fc.array(fc.oneof(one('{seq}', '{seq:4}', '{seq:4:year}', '{yyyy}', 'A-'), anyText), { maxLength: 4 }).map((parts) => parts.join('')),
    ),
    timezone: one('Europe/Berlin', 'UTC', 'America/New_York'),
    default_currency: one('EUR', 'USD'),
    source: one(echo),
    ':name': one(...ids.secrets, 'SECRET'),
    name: fc.oneof(one('Name', 'SECRET'), anyText),
  }
}

const instant = fc.constantFrom('2026-01-31', '2026-01-31T10:00:00Z', '2099-01-01T00:00:00+14:00')

const cell = (records: readonly string[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    anyText,
    anyJson,
    fc.constantFrom(...records),
    fc.constantFrom(
      'a',
      12.5,
      '2026-02-30',
      '2026-01-31',
      '2026-01-31T10:00:00Z',
      'a@b.example',
      'https://a.example/',
      [records[0]],
      ['a'],
    ),
    fc.record({ amount: fc.oneof(fc.integer(), anyText), currency: fc.constantFrom('EUR', 'XXX', '') }),
  )

const valuesOf = (fieldKey: fc.Arbitrary<string>, records: readonly string[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record(
        {
          a_string: anyText,
          a_text: anyText,
          a_number: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
          a_bool: fc.boolean(),
          a_date: fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10)),
          a_ref: fc.constantFrom(...records),
        },
        { requiredKeys: [] },
      ),
    },
    { weight: 2, arbitrary: fc.dictionary(fieldKey, cell(records), { maxKeys: 3 }) },
  )
