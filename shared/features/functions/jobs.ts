import { invocation } from '#shared/core/automation/schemas.ts'
import { functionValues, functionView } from '#shared/features/functions/definitions/schemas.ts'
import { functionLimits } from '#shared/features/functions/limits.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

/** Creates or changes a function; the source is parsed in a worker's sandbox, never in the API. */
export const saveFunctionJob = defineJob({
  name: 'functions.save',
  visible: ['functionId'],
  work: 'request',
  app: 'functions',
  pool: 'functions',
  concurrency: 4,
  slotsPerWorkspace: 2,
  retry: retryPolicies.once,
  timeoutSeconds: 60,
  tracked: true,
  payload: schema(t.Object({ functionId: nullable(uuid), values: functionValues })),
  result: functionView,
})

/** Limits the concurrent function runs of a workspace; runs for a waiting caller (priority 0) go before steps (priority 1). */
const gate = (priority: number) => ({ name: 'functions', perWorkspace: functionLimits.runsPerWorkspace, priority })

const run = {
  app: 'functions',
  pool: 'functions',
  retry: retryPolicies.once,
  once: true,
  timeoutSeconds: 60,
  tracked: true,
  payload: schema(
    t.Object({
      functionId: uuid,
      // As text, a number such as 1e100000 stays exact in the job tables.
      input: t.String({ description: 'JSON text' }),
      rights: t.Enum(['caller', 'lesser'], {
        description: "caller: the rights of the run's caller; lesser: the rights that both the caller and the author have",
      }),
    }),
  ),
  result: invocation,
} as const
export type FunctionRunPayload = TypeOf<typeof run.payload>

/** Runs a function for a waiting caller of the API or of its public address. */
export const invokeFunctionJob = defineJob({
  ...run,
  name: 'functions.invoke',
  visible: ['functionId', 'rights'],
  work: 'request',
  concurrency: 12,
  gate: gate(0),
})

/** Runs a function as a step of longer work, such as a flow. */
export const runFunctionJob = defineJob({
  ...run,
  name: 'functions.run',
  visible: ['functionId', 'rights'],
  work: 'step',
  concurrency: 8,
  gate: gate(1),
})
