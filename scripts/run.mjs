import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { launch } from './launch.mjs'

// Plain JavaScript for any Node from 18 on, because it runs before the pinned Node is installed.

const verbs = {
  start: ['scripts/start.ts'],
  test: ['scripts/test.ts'],
  'test:faults': ['test/faults/main.ts'],
  check: ['scripts/check.ts'],
  postgres: ['scripts/postgres.ts'],
  bench: ['bench/main.ts'],
  screenshots: ['scripts/screenshots.ts'],
  'contract-tables': ['scripts/contract-tables.ts'],
}

const startHelp = `Usage: npm start

Installs what is missing, unless DATABASE_URL is set, migrates the database, and runs the processes of the Procfile until Ctrl-C or SIGTERM.
It takes no arguments; the environment configures it:

  PORT           where the API listens; 3000, or the next free port, by default
  PUBLIC_URL     where clients reach it; http://localhost:<PORT> by default
  DATA_DIR       folder of everything that is kept on disk; .data by default
  DATABASE_URL   your own PostgreSQL; without it an embedded one runs, and the first start creates a workspace named Demo
  SECRET_KEY     32 bytes in hexadecimal or base64; created in DATA_DIR by default

docs/operations.md lists all of them. Other commands:

  npm test                all tests                         npm run check    types, lint, architecture, unused code, the description
  npx kontor routes       every route                       npx kontor jobs     every kind of background work
  npx kontor trace <id>   what a request caused             npx kontor console  a REPL with everything loaded
  npx kontor migrate      migrates a database               npx kontor --help   workspaces, people, keys, files, the ledger, queues
`

// Others refuse when packages are missing, so that no command changes the packages of an installation that runs.
const installing = process.env.DATABASE_URL ? ['test', 'check', 'bench'] : ['start', 'test', 'check', 'bench']

// With DATABASE_URL npm start needs no tools and no embedded PostgreSQL, so `npm ci --omit=dev` is enough for it.
const packagesOf = (verb) => (installing.includes(verb) ? 'installed' : verb === 'start' ? 'production' : 'development')

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [verb, ...args] = process.argv.slice(2)
const command = Object.hasOwn(verbs, verb) ? verbs[verb] : null

if (verb === 'start' && args.length > 0) {
  const isHelp = args.every((arg) => arg === '--help' || arg === '-h')
  if (isHelp) console.log(startHelp)
  else console.error(`npm start takes no arguments, got ${args.join(' ')}. See npm start -- --help.`)
  process.exitCode = isHelp ? 0 : 1
} else if (command) {
  await launch(root, [...command, ...args], packagesOf(verb))
} else {
  console.error(`Usage: node scripts/run.mjs <verb>, where verb is one of ${Object.keys(verbs).join(', ')}.`)
  process.exitCode = 1
}
