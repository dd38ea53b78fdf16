import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { launch } from './launch.mjs'

// Plain JavaScript for any Node from 18 on: it is what there is before the pinned Node is installed.

const verbs = {
  start: ['scripts/start.ts'],
  test: ['scripts/test.ts'],
  'test:faults': ['test/faults/main.ts'],
  check: ['scripts/check.ts'],
  postgres: ['scripts/postgres.ts'],
  migrate: ['bin/kontor.ts', 'migrate'],
  routes: ['scripts/routes.ts'],
  jobs: ['scripts/jobs.ts'],
  trace: ['scripts/trace.ts'],
  console: ['scripts/console.ts'],
  bench: ['bench/main.ts'],
}

// With a database of one's own these need no tools and no embedded PostgreSQL, so `npm ci --omit=dev` is enough for them.
const production = process.env.DATABASE_URL ? ['start', 'migrate'] : []

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [verb, ...args] = process.argv.slice(2)
const command = Object.hasOwn(verbs, verb) ? verbs[verb] : null

if (command) {
  await launch(root, [...command, ...args], { development: !production.includes(verb), cwd: root })
} else {
  console.error(`Usage: node scripts/run.mjs <verb>, where verb is one of ${Object.keys(verbs).join(', ')}.`)
  process.exitCode = 1
}
