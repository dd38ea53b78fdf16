import type { EventFamily, ShowEvent } from '#shared/core/events/event-type.ts'
import { showStored } from '#shared/core/events/show-stored.ts'
import { permits } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { runEndings } from '#shared/features/functions/runs/schemas.ts'
import { t, uuid } from '#shared/platform/kernel/schema.ts'

/** Prepares showing failures to who may read the function. */
const prepareFailures =
  async (scope: Scope): Promise<ShowEvent> =>
  async (event) =>
    permits(scope, 'functions:read', String(event.subject?.function)) ? showStored(event) : undefined

export const functionEvents: EventFamily = {
  app: 'functions',
  types: [
    {
      type: 'functions.failed',
      description: 'A run of a function did not return.',
      permission: 'functions:read',
      subject: t.Object({ function: uuid, id: t.String({ format: 'uuid', description: 'Of the run.' }) }, { title: 'FunctionRunSubject' }),
      data: t.Object({ version: t.Integer(), ending: t.Enum(runEndings.filter((ending) => ending !== 'returned')) }),
      example: {
        subject: { function: '01a19f9f-03ee-77b9-8f20-661579c80d09', id: '01a19fa1-e567-7551-85f9-e6e1c774ce59' },
        data: { version: 3, ending: 'threw' },
      },
    },
  ],
  prepare: prepareFailures,
}
