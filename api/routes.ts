import { routes as books } from '#api/accounting/book-routes.ts'
import { routes as reports } from '#api/accounting/report-routes.ts'
import { routes as entries } from '#api/accounting/routes.ts'
import { routes as bookPages } from '#api/calendar/book-pages.ts'
import { routes as calendars } from '#api/calendar/calendar-routes.ts'
import { routes as calendarEvents } from '#api/calendar/event-routes.ts'
import { routes as publicCalendars } from '#api/calendar/public.ts'
import { routes as rsvpPages } from '#api/calendar/rsvp-pages.ts'
import { routes as driveFiles } from '#api/drive/file-routes.ts'
import { routes as drive } from '#api/drive/routes.ts'
import { routes as flows } from '#api/flows/routes.ts'
import { routes as flowRuns } from '#api/flows/run-routes.ts'
import { routes as formPages } from '#api/forms/pages.ts'
import { routes as publicForms } from '#api/forms/public.ts'
import { routes as forms } from '#api/forms/routes.ts'
import { routes as publicFunctions } from '#api/functions/public.ts'
import { routes as functions } from '#api/functions/routes.ts'
import { routes as functionRuns } from '#api/functions/run-routes.ts'
import { routes as functionSecrets } from '#api/functions/secret-routes.ts'
import type { Route, Section } from '#api/http/route.ts'
import { routes as jobs } from '#api/jobs/routes.ts'
import { callbacks as messageCallbacks } from '#api/messages/callback.ts'
import { pages as messagePages } from '#api/messages/pages.ts'
import { routes as messages } from '#api/messages/routes.ts'
import { routes as notifications } from '#api/notifications/routes.ts'
import { routes as startPage } from '#api/pages/start.ts'
import { payPages } from '#api/payments/pages.ts'
import { routes as payments } from '#api/payments/routes.ts'
import { webhookRoutes } from '#api/payments/webhooks.ts'
import { routes as peoplePages } from '#api/people/pages.ts'
import { routes as people } from '#api/people/routes.ts'
import { routes as queueItems } from '#api/queues/item-routes.ts'
import { routes as queues } from '#api/queues/routes.ts'
import { routes as audit } from '#api/records/audit.ts'
import { routes as records } from '#api/records/routes.ts'
import { routes as roles } from '#api/roles/routes.ts'
import { routes as siteContent } from '#api/sites/content-routes.ts'
import { routes as publicContent } from '#api/sites/public.ts'
import { routes as sites } from '#api/sites/routes.ts'
import { routes as fields } from '#api/types/field-routes.ts'
import { routes as modules } from '#api/types/modules.ts'
import { routes as types } from '#api/types/routes.ts'
import { routes as members } from '#api/workspaces/member-routes.ts'
import { routes as workspacePages } from '#api/workspaces/pages.ts'
import { routes as workspaces } from '#api/workspaces/routes.ts'
import { routes as serviceAccounts } from '#api/workspaces/service-account-routes.ts'

/** Every route that carries the version prefix. */
export const routes: readonly Route[] = [
  ...people,
  ...workspaces,
  ...members,
  ...serviceAccounts,
  ...roles,
  ...types,
  ...modules,
  ...fields,
  ...records,
  ...audit,
  ...notifications,
  ...messages,
  ...drive,
  ...driveFiles,
  ...functionSecrets,
  ...functions,
  ...functionRuns,
  ...flows,
  ...flowRuns,
  ...queues,
  ...queueItems,
  ...entries,
  ...reports,
  ...calendars,
  ...calendarEvents,
  ...forms,
  ...sites,
  ...siteContent,
  ...payments,
  ...books,
  ...jobs,
]

/** Everything that is declared, by where it stands: the version is in the path of the authenticated routes (document 1, Versioning). */
export const sections: readonly Section[] = [
  { base: '/v1', routes },
  {
    base: '',
    routes: [
      ...startPage,
      ...peoplePages,
      ...workspacePages,
      ...messagePages,
      ...messageCallbacks,
      ...payPages,
      ...webhookRoutes,
      ...publicFunctions,
      ...publicCalendars,
      ...bookPages,
      ...rsvpPages,
      ...publicForms,
      ...formPages,
      ...publicContent,
    ],
  },
]
