import '#test/support/one-at-a-time.ts'
import '#test/api/lists/definitions.test.ts'
import '#test/api/lists/lists.test.ts'
import '#test/api/lists/long-pages.test.ts'
