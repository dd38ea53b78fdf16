import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { describeApi } from '#api/http/openapi/describe-api.ts'
import { sections } from '#api/routes.ts'
import { describeErrors } from '#scripts/errors-page.ts'
import { jobs } from '#shared/features.ts'
import { openPool } from '#test/support/pool.ts'
import { dumpSchema } from '#test/support/schema-dump.ts'
import { cloneTemplate, dropDatabase } from '#test/support/template.ts'

const folder = join(import.meta.dirname, 'contracts')

/** Compares the made text with the checked-in file, or writes the file when UPDATE_CONTRACTS is set. */
async function hold(t: ExecutionContext, file: string, made: string): Promise<void> {
  const path = join(folder, file)
  if (process.env.UPDATE_CONTRACTS) await writeFile(path, made)
  const kept = await readFile(path, 'utf8')
  t.is(made, kept, `${file} changed. If this is intended, run this file with UPDATE_CONTRACTS=1 and read the difference`)
}

const asJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

test('contracts: the API matches test/contracts/openapi.json', async (t) => {
  await hold(t, 'openapi.json', asJson(describeApi(sections, 'http://localhost:3000')))
})

test('contracts: every operation has a name of its own', (t) => {
  const { paths } = describeApi(sections, 'http://localhost:3000') as { paths: Record<string, Record<string, { operationId: string }>> }
  const names = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
  t.is(names.length, sections.flatMap(({ routes }) => routes).length)
  t.is(new Set(names).size, names.length)
})

test('contracts: the jobs match test/contracts/jobs.json', async (t) => {
  const declared = jobs.map(({ payload, result, ...job }) => ({ ...job, payload: payload.json, result: result.json }))
  await hold(t, 'jobs.json', asJson(declared.sort((a, b) => (a.name < b.name ? -1 : 1))))
})

test('contracts: docs/errors.md describes every error code', async (t) => {
  await hold(t, '../../docs/errors.md', describeErrors(sections.flatMap(({ routes }) => routes)))
})

test('contracts: all migrations together give test/contracts/schema.sql', async (t) => {
  const { name, url } = await cloneTemplate(`contract_${process.pid}`)
  const db = openPool({ connectionString: url, max: 1 })
  t.teardown(async () => {
    await db.end()
    await dropDatabase(name)
  })
  await hold(t, 'schema.sql', await dumpSchema(db))
})
