import test from 'ava'
import { sortBySpecificity } from '#api/http/specificity.ts'
import { sections } from '#api/routes.ts'

test('specificity: the more literal of two matching paths comes first', (t) => {
  const sorted = ['/a', '/a/b/c', '/a/b/:id', '/a/b', '/a/:id/c', '/a/:id/:other', '/a/:id{/*path}', '/a/*path', '/:id/b', '/:id']
  const shuffled = [...sorted].reverse()
  t.deepEqual(
    sortBySpecificity(shuffled, (path) => path).filter((path) => path.startsWith('/a/')),
    sorted.filter((path) => path.startsWith('/a/')),
  )
})

test('specificity: equal paths keep their order, and a path with a wildcard comes last', (t) => {
  const items = [
    { path: '/x/*rest', name: 1 },
    { path: '/x/:a', name: 2 },
    { path: '/x/:b', name: 3 },
    { path: '/x', name: 4 },
    { path: '/x/y', name: 5 },
  ]
  t.deepEqual(
    sortBySpecificity(items, ({ path }) => path).map(({ name }) => name),
    [5, 2, 3, 4, 1],
  )
})

test('specificity: no two routes match the same requests', (t) => {
  const shapes = sections.flatMap(({ base, routes }) =>
    routes.map(({ method, path }) => `${method} ${(base + path).replaceAll(/:\w+/g, ':').replaceAll(/\*\w+/g, '*')}`),
  )
  t.is(new Set(shapes).size, shapes.length)
})
