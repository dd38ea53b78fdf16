import { parseArgs } from 'node:util'
import { cases } from '#test/faults/cases.ts'
import { seconds } from '#test/faults/measure.ts'
import { type Outcome, runCase } from '#test/faults/run-case.ts'
import { formatTable } from '../../bin/table.ts'

/** `npm run test:faults`: real processes, killed, cut off and starved under load, and whether every guarantee held. */
const { values: options } = parseArgs({ options: { only: { type: 'string', default: '' } } })
const exact = cases.filter(({ name }) => name === options.only)
const chosen = exact.length > 0 ? exact : cases.filter(({ name }) => name.includes(options.only))
if (chosen.length === 0) throw new Error(`No case has ${options.only} in its name: ${cases.map(({ name }) => name).join(', ')}`)

const outcomes: Outcome[] = []
for (const one of chosen) {
  const outcome = await runCase(one)
  outcomes.push(outcome)
  console.log(`${verdictOf(outcome)} ${outcome.name} (${outcome.seconds.toFixed(0)} s)`)
  for (const failure of outcome.failures) console.log(`    ${failure}`)
}

const heading = ['case', 'faults', 'acknowledged', 'lost', 'repeated', 'hung', 'failed', 'given up', 'slowest', 'note']
console.log(`\n${formatTable([heading, ...outcomes.map(rowOf)]).join('\n')}\n`)
const count = (verdict: string) => outcomes.filter((outcome) => verdictOf(outcome) === verdict).length
console.log(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`)
process.exit(count('failed') === 0 ? 0 : 1)

function verdictOf({ result, failures }: Outcome): string {
  if (failures.length > 0) return 'failed'
  return result && 'skipped' in result ? 'skipped' : 'passed'
}

function rowOf({ name, result }: Outcome): (string | number | null)[] {
  if (!result) return [name, ...heading.slice(1).map(() => null)]
  if ('skipped' in result) return [name, ...heading.slice(2).map(() => null), `skipped: ${result.skipped}`]
  const { faults, acknowledged, lost, repeated, hung, failed, givenUp, slowest, note = '' } = result
  return [name, faults, acknowledged, lost, repeated, hung, failed, givenUp, `${seconds(slowest.ms)} ${slowest.what}`, note]
}
