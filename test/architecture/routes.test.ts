import test from 'ava'
import { routeRules, routeTables } from '#test/architecture/routes.ts'

for (const { name, check, broken } of routeRules) {
  test(`routes: ${name}`, (t) => t.deepEqual(check(routeTables), []))
  test(`routes: it can fail: ${name}`, (t) => t.not(check({ ...routeTables, ...broken }).length, 0))
}
