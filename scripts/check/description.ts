import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import core, { type RulesetDefinition } from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { describeApi } from '#api/http/openapi/describe-api.ts'
import { sections } from '#api/routes.ts'

// Checks the description of the API by the recommended rules of Redocly and Spectral. A warning counts as a failure. Accepted findings of
// Redocly are listed in .redocly.lint-ignore.yaml, by their place in the file that is written here.

const root = resolve(import.meta.dirname, '..', '..')
const file = join(root, '.cache', 'openapi.json')
const text = JSON.stringify(describeApi(sections, 'https://kontor.test'))
mkdirSync(join(root, '.cache'), { recursive: true })
writeFileSync(file, text)

const findings = [...byRedocly(), ...(await bySpectral())]
for (const finding of findings) console.log(finding)
process.exit(findings.length === 0 ? 0 : 1)

function byRedocly(): string[] {
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

async function bySpectral(): Promise<string[]> {
  const spectral = new core.Spectral()
  spectral.setRuleset({ extends: [[rulesets.oas as RulesetDefinition, 'recommended']], rules: {} })
  const results = await spectral.run(text)
  return results.map(({ code, message, path }) => `spectral ${code}: ${message} at ${path.join('.')}`)
}
