import { runChecks } from './check/checks.ts'

// `npm run check`: types, lint and architecture. Takes seconds.

process.exitCode = (await runChecks()) === 0 ? 0 : 1
