import { runChecks } from './check/checks.ts'

// `npm run check`: types, lint, architecture, what nothing uses, and the API's description. Takes seconds.

process.exitCode = (await runChecks()) === 0 ? 0 : 1
