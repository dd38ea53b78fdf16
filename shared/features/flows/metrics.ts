import { Counter, Histogram } from 'prom-client'
import { countOpenRunsByState } from '#shared/features/flows/runs/views-store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { addGauge, type Metrics } from '#shared/platform/kernel/metrics.ts'

export const chainsCut = new Counter({
  name: 'kontor_event_chains_cut_total',
  help: 'Chains of automations that were cut because they looked like loops, by the subscriber that was not called',
  labelNames: ['subscriber'],
  registers: [],
})

export const flowRunSeconds = new Histogram({
  name: 'kontor_flow_run_seconds',
  help: 'Time from when a run of a flow was created until it ended, its waits included, by status',
  labelNames: ['status'],
  buckets: [0.02, 0.1, 0.5, 2, 10, 60, 300, 3600, 86_400],
  registers: [],
})

export const flowSteps = new Counter({
  name: 'kontor_flow_steps_total',
  help: 'Steps of flows, by type of block and status',
  labelNames: ['type', 'status'],
  registers: [],
})

export const flowMetrics: Metrics<Executor> = {
  workerCounters: [chainsCut, flowRunSeconds, flowSteps],
  addGauges: (registry, query) => {
    const help = 'Runs of flows that have not ended, by whether they are queued, running, or wait for a time, a function or a call'
    addGauge(registry, 'kontor_flow_runs_open', help, ['state'], async () => {
      const open = await query((db) => db.query(countOpenRunsByState()), 'runs of flows')
      return open.map(({ state, count }) => ({ labels: { state }, value: count }))
    })
  },
}
