import type { EventFamily, ShowEvent } from '#shared/core/events/event-type.ts'
import { showStored } from '#shared/core/events/show-stored.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { nullable, t, uuid } from '#shared/platform/kernel/schema.ts'

/** Prepares showing ends of runs to who may read the flow. */
const prepareEnds =
  async (scope: Scope): Promise<ShowEvent> =>
  async (event) =>
    permits(scope, 'flows:read', String(event.subject?.flow)) ? showStored(event) : undefined

const subject = t.Object({ flow: uuid, id: t.String({ format: 'uuid', description: 'Of the run.' }) }, { title: 'FlowRunSubject' })
const others = {
  trigger: t.String({ description: 'Kind of the trigger, such as schedule.' }),
  version: t.Integer({ description: 'Version of the definition that the run played.' }),
  retry_of: nullable(t.String({ format: 'uuid', description: 'The run that this one continued.' })),
}
const common = { permission: 'flows:read', subject }
const run = { flow: '01a1fbc7-2f0e-7d35-8a41-b2a6c0a9e310', id: '01a1fbc8-8645-7571-bf7a-d5998224cc5c' }

export const flowEvents: EventFamily = {
  types: [
    {
      ...common,
      type: 'flows.run.finished',
      description: 'A run of a flow ended as `ok`.',
      data: t.Object({ status: t.Literal('ok'), ...others }),
      example: { subject: run, data: { status: 'ok', trigger: 'schedule', version: 3, retry_of: null } },
    },
    {
      ...common,
      type: 'flows.run.failed',
      description: 'A run of a flow failed or was cancelled.',
      data: t.Object({ status: t.Enum(['failed', 'cancelled']), ...others }),
      example: { subject: run, data: { status: 'failed', trigger: 'record_event', version: 3, retry_of: null } },
    },
  ],
  prepare: prepareEnds,
}
