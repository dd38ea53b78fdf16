import { createHash } from 'node:crypto'
import type { WorkspaceEvent } from '#shared/core/events/schemas.ts'
import { prepareEvents } from '#shared/core/events/show-all.ts'
import type { ChangeRow } from '#shared/core/records/events/show-changes.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { EventDelivery } from '#shared/platform/events/event-delivery.ts'
import type { TypedEvent } from '#shared/platform/events/numbering-store.ts'
import { idTimeMs } from '#shared/platform/kernel/ids.ts'
import { toInstant, toUtcInstant } from '#shared/platform/kernel/time/instant.ts'
import { hasParts } from '#shared/platform/kernel/values/json-walk.ts'

/** The events of a delivery to listeners to types, as they are stored. */
export const readTypedEvents = ({ event, entryIds, subjectIds, snapshots = [] }: EventDelivery): ChangeRow[] =>
  entryIds.flatMap((id, index) => {
    const [subjectId, typed] = [subjectIds[index], snapshots[index] as TypedEvent | null | undefined]
    if (subjectId === undefined || !typed) return []
    const [createdAt, updatedAt] = [toUtc(typed.createdAt), toUtc(typed.updatedAt)]
    return [{ ...typed, id, type: event, at: toInstant(new Date(idTimeMs(id))), subjectId, createdAt, updatedAt }]
  })

/** PostgreSQL ends an instant in JSON with `+00:00` and omits trailing zeros. */
const toUtc = (instant: string | null): string | null => instant && (toUtcInstant(instant) ?? instant)

/** The events, by id, as the caller may read them; those that it may not read are left out. */
export async function showTypedEvents(scope: Scope, events: readonly ChangeRow[]): Promise<ReadonlyMap<string, WorkspaceEvent>> {
  const unique = [...new Map(events.map((event) => [event.id, event])).values()]
  const show = await prepareEvents(scope, scope.eventFamilies, unique)
  const shown = new Map<string, WorkspaceEvent>()
  for (const event of unique) {
    const view = await show(event)
    if (view) shown.set(event.id, view)
  }
  return shown
}

/** Characters of a digest. A reader who sees something else than a flow saw has another one. */
const digestCharacters = 16

/** Digests of all that an event shows, by which a reader is known to see all that a flow saw (`seesAllOf`). They are stored with the run. */
export const digestsOf = (event: WorkspaceEvent): string[] => [
  ...new Set(
    [...leavesOf(event, '')]
      .filter((leaf) => !ofView.has(leaf))
      .map((leaf) => createHash('sha256').update(leaf).digest('base64url').slice(0, digestCharacters)),
  ),
]

/** Whether a reader to whom an event is shown so sees all that has these digests. */
export function seesAllOf(event: WorkspaceEvent, digests: readonly string[]): boolean {
  const seen = new Set(digestsOf(event))
  return digests.every((digest) => seen.has(digest))
}

/** What tells of the reader's access and not of the record: it is no secret to who saw more. */
const ofView: ReadonlySet<string> = new Set([
  '.data.view="entered"',
  '.data.view="left"',
  '.data.view="changed"',
  '.data.before=null',
  '.data.after=null',
])

/** Each value with its path. The items of a list have one path, since a reader who sees more of them has them at other places. */
function* leavesOf(value: unknown, path: string): Generator<string> {
  if (Array.isArray(value)) for (const item of value) yield* leavesOf(item, `${path}[]`)
  else if (hasParts(value)) for (const [key, part] of Object.entries(value)) yield* leavesOf(part, `${path}.${key}`)
  else yield `${path}=${JSON.stringify(value)}`
}
