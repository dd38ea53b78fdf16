import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describeApi } from '#api/http/openapi/describe-api.ts'
import { sections } from '#api/routes.ts'
import { changesSincePassed, digest, installed, keepPassed } from '#scripts/check/passed.ts'

// Checks the description of the API by the recommended rules of Redocly. A warning counts as a failure. Accepted findings are listed in
// .redocly.lint-ignore.yaml, by their place in the file that is written here. A description that passed is not checked again.

const root = resolve(import.meta.dirname, '..', '..')
const file = join(root, '.cache', 'openapi.json')
const text = JSON.stringify(describeApi(sections, 'https://kontor.test'))
const inputs = { ...installed(), text: digest(text), accepted: digest(readFileSync(join(root, '.redocly.lint-ignore.yaml'))) }

if (changesSincePassed('redocly', inputs)?.length === 0) process.exit(0)
mkdirSync(join(root, '.cache'), { recursive: true })
writeFileSync(file, text)
const findings = findProblems()
for (const finding of findings) console.log(finding)
if (findings.length === 0) keepPassed('redocly', inputs)
process.exit(findings.length === 0 ? 0 : 1)

function findProblems(): string[] {
  const command = [join(root, 'node_modules', '@redocly', 'cli', 'bin', 'cli.js'), 'lint', file, '--extends=recommended', '--format=json']
  const { stdout, stderr } = spawnSync(process.execPath, command, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  })
  try {
    const { problems } = JSON.parse(stdout) as RedoclyAnswer
    return problems.filter(({ ignored }) => !ignored).map(({ ruleId, message }) => `redocly ${ruleId}: ${message}`)
  } catch {
    return [`redocly lint did not run: ${stdout}${stderr}`]
  }
}

interface RedoclyAnswer {
  readonly problems: readonly { readonly ruleId: string; readonly message: string; readonly ignored?: boolean }[]
}
