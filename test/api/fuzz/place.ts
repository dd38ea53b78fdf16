import fc from 'fast-check'
import { anyJson, type Names } from '#test/api/fuzz/from-schema.ts'
import { anyText } from '#test/api/fuzz/texts.ts'
import { createMember, createRole, createService, type Org } from '#test/support/factories.ts'
import type { World } from '#test/support/world.ts'

/** A workspace with one of everything that requests can name. */
export interface Place {
  readonly org: Org
  readonly names: Names
  /** Tokens of those who call: the owner more often than a member without roles, a service account, and nobody. */
  readonly token: fc.Arbitrary<string | null>
}

const fieldTypes = 'string text number bool date datetime currency select multiselect email url file ref refs'.split(' ')
const rules: Readonly<Record<string, object>> = {
  select: { options: ['a', 'b'] },
  multiselect: { options: ['a', 'b'] },
  ref: { ref_type: 'thing' },
  refs: { ref_type: 'thing' },
}

/** Fills the workspace through the API. */
export async function furnish(w: World): Promise<Place> {
  const { org } = w
  const { owner, path } = org
  await owner.post(`${path}/types`, { key: 'thing', label: 'Thing' })
  const fieldIds: string[] = []
  for (const type of fieldTypes) {
    const body = { entity_type: 'thing', key: `a_${type}`, label: type, type, rules: rules[type] ?? {}, unique: type === 'email' }
    const { data } = await owner.post(`${path}/fields`, body)
    if (data?.id) fieldIds.push(data.id)
  }
  const records: string[] = []
  for (let index = 0; index < 8; index += 1)
    records.push((await owner.post(`${path}/records/thing`, { values: { a_number: index } })).data.id)
  const rule = { name: 'a', object_type: 'thing', event: 'created', title: 'New {{a_string}}', audience: 'all_members' }
  const ruleId: string = (await owner.post(`${path}/notification-rules`, rule)).data.id
  await owner.post(`${path}/modules`, { slug: 'menu', name: 'Menu' })
  await owner.post(`${path}/records/thing`, { values: { a_string: 'noticed' } })
  const fnId: string = (await owner.post(`${path}/functions`, { name: 'Echo', source, http_enabled: true })).data.id
  const roleId = await createRole(w, org, [{ effect: 'allow', actions: ['records:read'] }])
  const member = await createMember(w, org, [])
  const service = await createService(w, org, [{ effect: 'allow', actions: ['*'] }])
  const exported = await owner.get(`${path}/records/thing/export`, { prefer: 'respond-async' })
  return {
    org,
    token: fc.oneof(
      { weight: 9, arbitrary: fc.constant(owner.token) },
      { weight: 2, arbitrary: fc.constant(service.client.token) },
      { weight: 1, arbitrary: fc.constantFrom(member.client.token, null, 'kt_no') },
    ),
    names: namesOf({
      fieldIds,
      records,
      ruleId,
      fnId,
      roleId,
      memberId: member.id,
      serviceId: service.id,
      jobId: exported.data?.job_id,
      orgId: org.id,
    }),
  }
}

interface Ids {
  readonly fieldIds: readonly string[]
  readonly records: readonly string[]
  readonly ruleId: string
  readonly fnId: string
  readonly roleId: string
  readonly memberId: string
  readonly serviceId: string
  readonly jobId: string | undefined
  readonly orgId: string
}

const source = 'const handler = (input) => input'

function namesOf({ fieldIds, records, ruleId, fnId, roleId, memberId, serviceId, jobId, orgId }: Ids): Names {
  const one = <T>(...values: readonly T[]) => fc.constantFrom(...values)
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
    fieldId: one(...fieldIds),
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
    groupId: one(roleId),
    role_ids: one([roleId], []),
    userId: one(memberId, serviceId),
    user_id: one(memberId, serviceId),
    actor: one(memberId, serviceId),
    id: one(serviceId, ...records),
    ruleId: one(ruleId),
    fnId: one(fnId),
    functionId: one(fnId),
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
    jobId: one(jobId ?? ruleId),
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
    pattern: fc
      .array(fc.oneof(one('{seq}', '{seq:4}', '{seq:4:year}', '{yyyy}', 'A-'), anyText), { maxLength: 4 })
      .map((parts) => parts.join('')),
    timezone: one('Europe/Berlin', 'UTC', 'America/New_York'),
    default_currency: one('EUR', 'USD'),
    source: one(source),
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
