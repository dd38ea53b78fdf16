import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { Registry } from 'prom-client'
import { parse } from 'yaml'
import '#api/server.ts'
import { registry as ofApi } from '#api/http/metrics.ts'
import { metrics } from '#shared/features.ts'
import { registry as ofWorkers } from '#workers/metrics.ts'

const root = join(import.meta.dirname, '..', '..')

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets: readonly { readonly expr: string; readonly legendFormat?: string }[]
  }[]
}
interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string; readonly annotations: Readonly<Record<string, string>> }[]
  }[]
}

/** A metric as prom-client keeps it. */
interface Declared {
  readonly name: string
  readonly labelNames: readonly string[]
  readonly type?: string
}

/** The labels of every metric that a process exposes, by its name; of a histogram by the names of its series. */
function declaredMetrics(): Map<string, ReadonlySet<string>> {
  const registries: readonly Registry[] = [ofApi, ofWorkers]
  const counters = metrics.flatMap(({ counters = [] }) => counters)
  const found = new Map<string, ReadonlySet<string>>()
  for (const metric of [...registries.flatMap((registry) => registry.getMetricsAsArray()), ...counters] as unknown as Declared[]) {
    const labels = new Set(metric.labelNames ?? [])
    found.set(metric.name, labels)
    for (const suffix of ['count', 'sum']) found.set(`${metric.name}_${suffix}`, labels)
    found.set(`${metric.name}_bucket`, new Set([...labels, 'le']))
  }
  // Prometheus makes this one.
  found.set('up', new Set())
  return found
}
const declared = declaredMetrics()

/** Labels that Prometheus adds to every series. */
const added = ['instance', 'job']

/** What is wrong in a query or in a text that shows its labels. */
function faultsOf(expr: string, shownLabels: readonly string[] = []): string[] {
  const names = [...expr.matchAll(/\b(?:kontor|nodejs|process)_\w+|\bup\b/g)].map(([name]) => name)
  const known = names.filter((name) => declared.has(name))
  const labels = new Set([...added, ...known.flatMap((name) => [...(declared.get(name) ?? [])])])
  const selected = [...expr.matchAll(/\b((?:kontor|nodejs|process)_\w+|up)\{([^}]*)\}/g)].flatMap(([, name = '', selectors = '']) =>
    [...selectors.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)]
      .map(([, label = '']) => label)
      .filter((label) => !added.includes(label) && !declared.get(name)?.has(label))
      .map((label) => `${name} has no label ${label}`),
  )
  const grouped = [...expr.matchAll(/\b(?:by|without)\s*\(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  )
  return [
    ...(names.length === 0 ? ['it names no metric'] : []),
    ...names.filter((name) => !declared.has(name)).map((name) => `there is no metric ${name}`),
    ...selected,
    ...[...grouped, ...shownLabels].filter((label) => !labels.has(label)).map((label) => `none of its metrics has the label ${label}`),
  ]
}

test('queries: every panel of the dashboard reads metrics and labels that there are', (t) => {
  const { panels } = JSON.parse(readFileSync(join(root, 'deploy/grafana/kontor.json'), 'utf8')) as Dashboard
  t.true(panels.length >= 20)
  for (const { title, targets } of panels)
    for (const { expr, legendFormat = '' } of targets) {
      const shown = [...legendFormat.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, label = '']) => label)
      t.deepEqual(faultsOf(expr, shown), [], `${title}: ${expr}`)
    }
})

test('queries: every alarm reads metrics and labels that there are, and says what to do', (t) => {
  const { groups } = parse(readFileSync(join(root, 'deploy/prometheus/rules.yaml'), 'utf8')) as Rules
  const rules = groups.flatMap(({ rules }) => rules)
  t.true(rules.length >= 12)
  for (const { alert, expr, annotations } of rules) {
    const shown = Object.values(annotations).flatMap((text) => [...text.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label))
    t.deepEqual(faultsOf(expr, shown), [], alert)
    t.true(Boolean(annotations.summary && annotations.description), alert)
  }
})

for (const [expr, fault] of [
  ['sum(rate(kontor_unheard_of_total[5m]))', 'there is no metric kontor_unheard_of_total'],
  ['kontor_queue_jobs{state="waiting", pool="mail"}', 'kontor_queue_jobs has no label pool'],
  ['sum by (pool) (kontor_queue_jobs)', 'none of its metrics has the label pool'],
  ['sum by (le) (kontor_queue_jobs)', 'none of its metrics has the label le'],
  ['1 > 0', 'it names no metric'],
] as const)
  test(`queries: it can fail: ${fault}`, (t) => {
    t.deepEqual(faultsOf(expr), [fault])
  })

test('queries: a legend that shows a label which its metrics lack is found', (t) => {
  t.deepEqual(faultsOf('kontor_queue_jobs', ['pool']), ['none of its metrics has the label pool'])
})
