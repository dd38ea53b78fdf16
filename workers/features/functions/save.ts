import { changeFunction, createFunction } from '#shared/features/functions/definitions/functions.ts'
import { saveFunctionJob } from '#shared/features/functions/jobs.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { defineHandler } from '#workers/core/scope/handler.ts'
import type { FunctionRunners } from '#workers/features/functions/function-runners.ts'

/** Checks the source in a sandbox before the function is saved. */
export const createSaveHandler = (runners: FunctionRunners) =>
  defineHandler(saveFunctionJob, async ({ payload: { functionId, values }, commit }) => {
    const sourceError = values.source === undefined ? null : await runners.sandboxAt(0).checkSource(values.source)
    if (sourceError)
      throw problem(
        'VALIDATION_ERROR',
        `source, line ${sourceError.line}, column ${sourceError.column}: ${sourceError.message}${adviceFor(sourceError.message)}`,
      )
    return commit(async (inside) => ({
      result: functionId === null ? await createFunction(inside, values) : await changeFunction(inside, functionId, values),
    }))
  })

/** Advice for sources written as modules, for which V8 only reports an unexpected token. */
const adviceFor = (message: string): string =>
  /'export'|import statement|'import\.meta'/.test(message)
    ? '; a function is a script and no module: define `async function handler(input) { … }` at top level, without import and export'
    : ''
