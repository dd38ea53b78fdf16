import type { World } from '#test/support/world.ts'

/** Paths of the routes of rules and of the caller's inbox. */
export const rulesOf = (w: World) => `${w.org.path}/notification-rules`
export const inboxOf = (w: World) => `${w.org.path}/notifications`
export const locationsOf = (w: World) => `${w.org.path}/records/locations`

/** Body of a request that creates a rule. */
export const ruleInput = { name: 'New places', object_type: 'locations', event: 'created', title: 'A new place' }

/** Makes a rule as the owner, like `ruleInput` with these changes, and returns its id. */
export async function makeRule(w: World, changes: object = {}): Promise<string> {
  const { status, data, text } = await w.org.owner.post(rulesOf(w), { ...ruleInput, ...changes })
  if (status !== 201) throw new Error(text)
  return data.id
}
