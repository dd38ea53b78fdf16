import type { EventFamily, ShowEvent } from '#shared/core/events/event-type.ts'
import { showStored } from '#shared/core/events/show-stored.ts'
import { permits, permitsAll } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findFormKeys } from '#shared/features/forms/store.ts'
import type { StoredEvent } from '#shared/platform/events/feed-store.ts'
import { t, uuid } from '#shared/platform/kernel/schema.ts'

/** Prepares showing submissions to who manages their form by its key of now. Those of a deleted form are for who manages every form. */
async function prepareSubmissions(scope: Scope, events: readonly StoredEvent[]): Promise<ShowEvent> {
  const ids = [...new Set(events.flatMap(({ subject }) => (typeof subject?.form === 'string' ? [subject.form] : [])))]
  const rows = await scope.db.query(findFormKeys({ workspaceId: scope.workspace.id, ids }))
  const keys = new Map<unknown, string>(rows.map(({ id, key }) => [id, key]))
  return async (event) => {
    const key = keys.get(event.subject?.form)
    const mayRead = key === undefined ? permitsAll(scope, 'forms:manage') : permits(scope, 'forms:manage', key)
    return mayRead ? showStored(event) : undefined
  }
}

export const formEvents: EventFamily = {
  types: [
    {
      type: 'forms.submitted',
      description: 'A visitor sent a form. Spam counts once it is accepted.',
      permission: 'forms:manage',
      subject: t.Object(
        { form: uuid, id: t.String({ format: 'uuid', description: 'Of the submission.' }) },
        { title: 'SubmissionSubject' },
      ),
      data: t.Object({}),
      example: { subject: { form: '01a1a30b-f7e7-78a9-9781-03f3a8a97ba0', id: '01a1a33e-2822-7a76-ba6a-035d70908ed7' }, data: {} },
    },
  ],
  prepare: prepareSubmissions,
}
