import { sections } from '#api/routes.ts'
import { accountingExamples } from '#test/api/walk/accounting-examples.ts'
import { calendarExamples } from '#test/api/walk/calendar-examples.ts'
import { callOf } from '#test/api/walk/call-of.ts'
import { namedRoutes } from '#test/api/walk/chosen.ts'
import { driveExamples } from '#test/api/walk/drive-examples.ts'
import type { Examples, WalkedRoutes } from '#test/api/walk/example.ts'
import { flowExamples } from '#test/api/walk/flow-examples.ts'
import { formExamples } from '#test/api/walk/form-examples.ts'
import { functionExamples } from '#test/api/walk/function-examples.ts'
import { messageExamples } from '#test/api/walk/message-examples.ts'
import { operatorExamples } from '#test/api/walk/operator-examples.ts'
import { paymentExamples } from '#test/api/walk/payment-examples.ts'
import { platformExamples } from '#test/api/walk/platform-examples.ts'
import { queueExamples } from '#test/api/walk/queue-examples.ts'
import { recordExamples } from '#test/api/walk/record-examples.ts'
import { siteExamples } from '#test/api/walk/site-examples.ts'
import { workspaceExamples } from '#test/api/walk/workspace-examples.ts'
import { webhookExamples } from '#test/features/webhooks/examples.ts'
import type { Caller } from '#test/support/factories.ts'
import type { Place } from '#test/support/things.ts'

const walked: WalkedRoutes = {
  ...platformExamples,
  ...operatorExamples,
  ...workspaceExamples,
  ...recordExamples,
  ...functionExamples,
  ...flowExamples,
  ...formExamples,
  ...siteExamples,
  ...accountingExamples,
  ...paymentExamples,
  ...messageExamples,
  ...driveExamples,
  ...calendarExamples,
  ...queueExamples,
  ...webhookExamples,
}

const routes = new Map(namedRoutes(sections).map(({ name, route }) => [name, route]))

/** An example of every route. */
export const examples: Examples = Object.fromEntries(
  Object.entries(walked).flatMap(([name, one]) => {
    const route = routes.get(name)
    return route ? [[name, { ...one, call: (place: Place, caller: Caller) => callOf(route, one, place, caller) }]] : []
  }),
)
