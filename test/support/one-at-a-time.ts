import test from 'ava'

// Runs the tests of an entry one after the other: each waits until the previous one has ended, with its teardowns. AVA's option `serial`
// would also run the entries one after the other, on one core.

let last = Promise.resolve()
let end = () => {}

test.beforeEach(async () => {
  const previous = last
  const own = Promise.withResolvers<void>()
  last = own.promise
  await previous
  end = own.resolve
})
test.afterEach.always(() => end())
