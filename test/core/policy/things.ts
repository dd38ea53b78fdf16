import fc from 'fast-check'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { alike, fields, rule, typeKey, valuesOf } from '#test/core/policy/random.ts'
import { defaults } from '#test/core/policy/writing-ways.ts'
import type { Answer } from '#test/support/send-request.ts'
import type { World } from '#test/support/world.ts'

/**
 * Creates the type of the random rules through the API: ordinary fields unchanged, and computed ones with formulas that read the same
 * fields.
 */
export async function makeType({ org, drain }: World): Promise<void> {
  await org.owner.post(`${org.path}/types`, { key: typeKey, label: 'Things' })
  const options = { select: [...valuesOf.select], multiselect: [...new Set(valuesOf.multiselect.flatMap((list) => list as string[]))] }
  for (const { key, type } of fields) {
    const rules = type === 'ref' || type === 'refs' ? { ref_type: typeKey } : type in options ? { options: options[type as 'select'] } : {}
    const initial = key in defaults ? { default: defaults[key] } : {}
    const { data } = await org.owner.post(`${org.path}/fields`, {
      entity_type: typeKey,
      key,
      label: key,
      type,
      rules: { ...rules, ...initial },
    })
    const formula = { twice: 'a_number + a_currency', again: 'twice & ""' }[key]
    if (formula) await org.owner.put(`${org.path}/fields/${data.id}/formula`, { formula })
  }
  await drain()
}

/** Sends values without those that are refused, and returns the answer. */
export async function sendAccepted(send: (values: object) => Promise<Answer>, given: Readonly<Record<string, unknown>>): Promise<Answer> {
  const values = { ...given }
  // Each refusal removes a value.
  for (let left = Object.keys(given).length; left >= 0; left--) {
    const answer = await send(values)
    if (answer.status < 400) return answer
    delete values[/^values\.(\w+)/.exec(answer.body.error.message)?.[1] ?? '']
  }
  throw new Error(`None of ${JSON.stringify(given)} is accepted`)
}

/** Creates a record from the accepted ones of these values, and changes it once. */
export async function makeRecord({ org: { owner, path } }: World, given: Readonly<Record<string, unknown>>): Promise<void> {
  const made = await sendAccepted((values) => owner.post(`${path}/records/${typeKey}`, { values }), given)
  await owner.put(`${path}/records/${typeKey}/${made.data.id}/values`, { values: { a_bool: true } })
}

/** A rule on records only: another role holds the other permissions that the ways need. */
export const onRecords = fc.oneof(rule, alike).map((one): PolicyRule => {
  const actions = one.actions.map((action) => (action === '*' ? 'records:*' : action === 'types:read' ? 'records:export' : action))
  return { ...one, actions }
})
